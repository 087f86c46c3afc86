// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state import` of a prompt cache of mlx-lm.

#include <filesystem>
#include <memory>

#include "console.h"
#include "errors.h"
#include "holdfast/engine/mlx_import.h"
#include "holdfast/engine/text_record.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/prefix/text_facts.h"
#include "holdfast/state/foreign_bits.h"
#include "import_options.h"
#include "state_claims.h"

namespace holdfast::app {

namespace {

struct OpenCache {
  std::unique_ptr<SafetensorsFile> file;
  MlxCache cache;
};

OpenCache open_cache(const ImportArguments& arguments) {
  OpenCache result;
  result.file =
      SafetensorsFile::open(*posix_file_system(), arguments.file).value();
  result.cache = users([&] { return read_mlx_cache(*result.file).value(); });
  if (!arguments.foreign_bits) {
    throw UserError(
        arguments.file +
        ": expected --foreign-bits, which keeps what another engine computed "
        "apart, got none");
  }
  return result;
}

/// In RAM, beside its blocks: what an index takes of a block, at most.
constexpr int64_t kIndexBytes = 4096;

/// Room for all of the snapshot, whose blocks are in memory already. Throws
/// UserError where the user allows less.
PrefixCacheOptions
room_for(const StateFolder& folder, const Snapshot& snapshot) {
  const int64_t blocks = std::ssize(snapshot.tokens()) / kBlockTokens + 1;
  const Bytes needed = snapshot.bytes() + Bytes(blocks * kIndexBytes);
  PrefixCacheOptions options = folder.cache_options();
  if (options.ram < needed) {
    if (folder.limits_cache()) {
      throw UserError(
          "--max-cache-bytes: expected at least " +
          std::to_string(needed.get()) +
          ", which the state takes on its way to the disk, got " +
          std::to_string(options.ram.get()));
    }
    options.ram = needed;
  }
  return options;
}

/// Puts the row in, and waits until the disk has it.
Bytes store(
    State& state,
    const PrefixCacheOptions& options,
    const Snapshot& snapshot,
    NamedRecord record) {
  PrefixCache cache(state, options);
  const RowId row = state.adopt(snapshot);
  cache.put(row, {snapshot.tokens()}, std::move(record));
  const bool whole = cache.keep({snapshot.tokens()}, {});
  const FlushReport report = cache.flush({.until = {}, .last = true});
  if (!report.durable || !whole) {
    throw Error(
        ErrorCode::kIo,
        "[import] expected all of the state on the disk, got: " +
            report.text());
  }
  return cache.written();
}

} // namespace

int import_mlx_cache(ImportArguments& arguments) {
  const OpenCache open = open_cache(arguments);
  const RecordName name = arguments.record_name({});
  arguments.require_folder();
  const auto disk = arguments.folder.cache_options().disk;
  RecordClaims claims(*disk);
  claims.claim(name);
  arguments.require_free(*disk, name);
  double load_ms = 0;
  const LoadedModel loaded = arguments.model.load(load_ms);
  const Tokenizer& tokenizer = loaded.source.tokenizer;
  const std::vector<int32_t> tokens = arguments.tokens(tokenizer);
  const MlxPlan plan = users([&] {
    return plan_mlx_import(open.cache, loaded.model->layers()).value();
  });
  const ForeignBits foreign{
      .origin = open.file->digest().value().hex(), .least = plan.least};
  arguments.model.state.weights = arguments.folder.digest(loaded.source.parts);
  arguments.model.state.foreign = foreign.text();
  const auto state = arguments.model.make_state(loaded);
  NamedRecord record{.name = name};
  set_facts(
      record.body,
      {.model = std::filesystem::path(arguments.model.path).filename().string(),
       .line = first_line_of(tokenizer, tokens),
       .made_ns = system_clock()->wall_ns()});
  ProgressLine line("importing");
  const Snapshot snapshot = users([&] {
    return mlx_snapshot(
        *state,
        {*open.file, open.cache, plan},
        tokens,
        [&](int64_t done, int64_t total) { line.update(done, total); });
  });
  const Bytes written = store(
      *state,
      room_for(arguments.folder, snapshot),
      snapshot,
      std::move(record));
  line.clear();
  print(
      arguments,
      {.name = name,
       .tokens = plan.length,
       .written = written,
       .foreign = foreign.origin,
       .least = foreign.least});
  return kOk;
}

} // namespace holdfast::app
