// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the verbs of `holdfast state` share: the folder, the records in it and
// how they are named. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "holdfast/prefix/text_facts.h"
#include "holdfast/tier/disk_tier.h"
#include "options.h"

namespace holdfast::app {

/// The options that every verb has.
struct StateTarget {
  std::string folder; // empty: the user's own
  bool json = false;

  void add_to(CLI::App& verb);
  /// The folder. Throws UserError where no state is kept there.
  std::string path() const;
  /// Its tier, with a cap that evicts nothing. Throws UserError.
  std::unique_ptr<DiskTier> open() const;
};

/// A verb about records.
struct RecordTarget : StateTarget {
  std::vector<std::string> names;

  void add_to(CLI::App& verb, const char* what);
};

struct ListedRecord {
  StoredRecord stored;
  TextFacts facts;
  std::string short_name; // as short as it is nobody else's
  Bytes bytes; // of its state and body
  Bytes own_bytes; // of those, what no other text shares
};

/// All records, the last stored first.
std::vector<ListedRecord> list_records(DiskTier& tier);

/// The record that a name, the beginning of one, or "space/" before either
/// stands for. Throws UserError where there is none, or several, naming these.
RecordName find_record(DiskTier& tier, const std::string& typed);

/// "chat/name", printable.
std::string shown(const RecordName& name);

} // namespace holdfast::app
