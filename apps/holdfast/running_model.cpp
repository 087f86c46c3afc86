// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "running_model.h"

#include <cstdio>
#include <filesystem>
#include <utility>

namespace holdfast::app {

Generator RunningModel::generator() {
  return {
      compiled ? *compiled : *loaded.model,
      loaded.source.tokenizer,
      loaded.source.end_tokens,
      *state,
      loaded.runtime,
      cache ? &*cache : nullptr,
      file_name};
}

namespace {

/// "model" of "dir/model/".
std::string last_name(const std::string& path) {
  const auto name = std::filesystem::path(path).lexically_normal();
  return (name.has_filename() ? name : name.parent_path()).filename().string();
}

} // namespace

std::unique_ptr<RunningModel> start_model(
    ModelOptions& model,
    const StateFolder& folder,
    WithoutFolder without,
    double& load_ms) {
  std::unique_ptr<RunningModel> running(new RunningModel{
      .loaded = model.load(load_ms), .file_name = last_name(model.path)});
  if (folder.kept()) {
    model.state.weights = folder.digest(running->loaded.source.parts);
  }
  model.state.foreign = folder.foreign();
  running->state = model.make_state(running->loaded);
  if (folder.kept() || without == WithoutFolder::kWhatIsInMemory) {
    running->cache.emplace(*running->state, folder.cache_options());
  }
  running->compiled = model.compile(running->loaded);
  return running;
}

void print_running(const RunningModel& running) {
  const std::string& adapter = running.loaded.adapter;
  if (!adapter.empty()) {
    std::fprintf(stderr, "adapter %s\n", adapter.c_str());
  }
  std::fprintf(
      stderr,
      "kernels %s, %d threads, weights %.1f MB\n%s\n",
      name(running.loaded.runtime.path),
      running.loaded.runtime.executor->threads(),
      static_cast<double>(running.loaded.model->weight_bytes().get()) / 1e6,
      running.state->explain().c_str());
}

} // namespace holdfast::app
