// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `holdfast state import`, and what both kinds of files need of
// them. Values; one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "holdfast/tier/disk_tier.h"
#include "json.h"
#include "options.h"
#include "state_folder.h"

namespace holdfast::app {

struct ImportArguments {
  std::string file;
  std::string name; // "space/name" or a name; empty: the file says
  ModelOptions model;
  StateFolder folder;
  PromptOptions prompts; // the text, where the file has none
  std::string tokens_file; // its ids
  bool special = false;
  bool foreign_bits = false;
  bool replace = false;
  bool json = false;

  void add_to(CLI::App& verb);
  /// Throws UserError where the folder keeps nothing.
  void require_folder() const;
  /// Under which name: the one given, else `otherwise`, else the file's.
  RecordName record_name(const RecordName& otherwise) const;
  /// Throws UserError where the tier has it and it is not to be replaced.
  void require_free(DiskTier& tier, const RecordName& name) const;
  /// The text of a file that has none: --tokens, else the one prompt. Throws
  /// UserError.
  std::vector<int32_t> tokens(const Tokenizer& tokenizer) const;
};

/// What was imported, for a person or as JSON.
struct ImportSummary {
  RecordName name;
  Position tokens;
  Bytes written;
  std::string foreign; // its origin; empty: our own bits
  Position least; // of foreign ones
};
void print(const ImportArguments& arguments, const ImportSummary& summary);

/// A cache of mlx-lm; see docs/conversation.md.
int import_mlx_cache(ImportArguments& arguments);

} // namespace holdfast::app
