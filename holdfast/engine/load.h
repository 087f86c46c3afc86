// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// From a model's file or folder to what generates: tokenizer, model, state.
// Threads: the thread that loads is the engine thread.
// Errors: throws Error, one line that names the file.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/codec/kv_choice.h"
#include "holdfast/engine/gguf_weights.h"
#include "holdfast/engine/sampling_defaults.h"
#include "holdfast/env/file_identity.h"
#include "holdfast/env/runtime.h"
#include "holdfast/formats/gguf.h"
#include "holdfast/formats/tokenizer.h"
#include "holdfast/models/model.h"
#include "holdfast/state/state.h"

namespace holdfast {

/// One of the files that decide a model's bits, as it was read.
struct ModelPart {
  std::string name; // without its folder
  std::string path; // its real one
  FileIdentity identity = {};
};

/// A model's file or folder and its tokenizer, without weights.
struct ModelFile {
  std::unique_ptr<const GgufFile> file; // null for a folder
  Tokenizer tokenizer;
  std::vector<int32_t> end_tokens; // ids that end a text
  std::string chat_template = {}; // Jinja; empty: none
  std::vector<ModelPart> parts = {}; // by name
  SamplingDefaults sampling = {};
};
/// `path`: a GGUF file (of several, the first), or a folder as on model hubs.
ModelFile open_model_file(const std::string& path);

/// All that is needed to run. Members in order of dependence.
struct LoadedModel {
  ModelFile source; // without its file: that is read and unmapped
  Runtime runtime;
  std::unique_ptr<const Model> model;
  /// SHA-256 of what was applied to it (engine/adapter.h); empty: nothing.
  std::string adapter = {};
};
/// The model alone, without what its texts need.
std::unique_ptr<const Model> load_weights(
    const std::string& path,
    const Runtime& runtime,
    const GgufWeights::Progress& progress = nullptr);
/// `adapter`: the folder of one to apply, or "".
LoadedModel load_model(
    const std::string& path,
    const Runtime& runtime,
    const GgufWeights::Progress& progress = nullptr,
    const std::string& adapter = {});

struct StateChoice {
  /// SHA-256 of the model's files, where its state is to be found again by
  /// other processes.
  std::string weights = {};
  /// ForeignBits::text() of the state to go on from; "": our own.
  std::string foreign = {};
  std::string kv = "bf16"; // as parse_kv_choice reads it
  std::string kv_config = {}; // path of a file for read_kv_config; empty: none
  Bytes max_bytes{0}; // 0: no limit
  bool reference_read = false;

  /// What to call it: the file's path, or `kv`.
  const std::string& name() const {
    return kv_config.empty() ? kv : kv_config;
  }
  /// The file's policy, or the one choice for all layers. Throws what refuses
  /// either.
  KvPolicy policy() const;
};
/// An empty state for the model. Throws kInvalidArgument on what cannot be
/// read, kUnsupported where a codec does not fit a layer.
std::unique_ptr<State>
make_state(const LoadedModel& loaded, const StateChoice& choice);

} // namespace holdfast
