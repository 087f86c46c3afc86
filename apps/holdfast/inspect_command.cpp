// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Prints what a model file holds, without loading its weights.

Examples:
  holdfast inspect model.gguf
  holdfast inspect model.gguf --tensors)";

struct InspectArguments {
  std::string model;
  bool tensors = false;
};

std::string megabytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string shape(const GgufTensor& tensor) {
  std::string text;
  for (int i = 0; i < tensor.dims; ++i) {
    text += (i == 0 ? "" : " x ") +
        std::to_string(tensor.ne[static_cast<size_t>(i)]);
  }
  return text;
}

void describe_config(std::ostream& out, const ModelConfig& config) {
  out << "family      " << printable(config.family) << "\n";
  if (!config.name.empty()) {
    out << "name        " << printable(config.name) << "\n";
  }
  out << "layers      " << config.layers << "\n"
      << "hidden      " << config.hidden << "\n"
      << "ffn         " << config.ffn << "\n"
      << "heads       " << config.query_heads << " query, " << config.kv_heads
      << " key-value, of " << config.head_dim << "\n"
      << "vocabulary  " << config.vocab << "\n"
      << "context     " << config.context << "\n";
  if (config.window > 0) {
    out << "window      " << config.window << "\n";
  }
}

void describe_tensors(std::ostream& out, const GgufFile& file, bool each) {
  struct Sum {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  std::map<std::string, Sum> types;
  for (const GgufTensor& tensor : file.tensors()) {
    Sum& sum = types[gguf_type_info(tensor.type).name];
    ++sum.count;
    sum.bytes += tensor.bytes;
  }
  out << "tensors     " << file.tensors().size() << "\n";
  for (const auto& [type, sum] : types) {
    out << "  " << type
        << std::string(10 - std::min<size_t>(type.size(), 9), ' ') << sum.count
        << ", " << megabytes(sum.bytes) << "\n";
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (each) {
      out << "  " << printable(tensor.name) << "  "
          << gguf_type_info(tensor.type).name << "  " << shape(tensor) << "\n";
    }
  }
}

void describe_tokenizer(std::ostream& out, const Tokenizer& tokenizer) {
  const auto special = [&](const char* what, int32_t id) {
    if (id != kNoToken) {
      out << ", " << what << " " << id << " " << printable(tokenizer.piece(id));
    }
  };
  out << "tokenizer   " << tokenizer.kind() << ", " << tokenizer.size()
      << " pieces";
  special("bos", tokenizer.bos());
  special("eos", tokenizer.eos());
  special("unknown", tokenizer.unknown());
  special("padding", tokenizer.padding());
  out << (tokenizer.add_bos() ? ", bos goes first" : "") << "\n";
}

/// Bytes of one position in all layers, while no window is full.
double state_bytes(const ModelConfig& config, const Codec& codec) {
  int64_t block = 0;
  for (const ChannelRole role : {ChannelRole::kKeys, ChannelRole::kValues}) {
    for (const PlaneSpec& plane : codec.planes(role, config.head_dim)) {
      block += plane.bytes.get();
    }
  }
  return static_cast<double>(config.layers * config.kv_heads * block) /
      kBlockTokens;
}

void describe_state(std::ostream& out, const ModelConfig& config) {
  for (const Codec* codec : all_codecs()) {
    if (codec->supports(ChannelRole::kKeys, config.head_dim).ok() &&
        codec->supports(ChannelRole::kValues, config.head_dim).ok()) {
      out << "state       " << state_bytes(config, *codec)
          << " bytes a token as " << codec->name()
          << (config.window > 0 ? " while no window is full" : "") << "\n";
    }
  }
}

int run_inspect(const InspectArguments& arguments) {
  require_regular(arguments.model);
  const FileGuard guard(arguments.model);
  const ModelFile source = open_model_file(arguments.model);
  const GgufWeights weights(*source.file, nullptr);
  std::ostringstream out;
  out << "file        " << printable(source.file->name()) << "\n"
      << "format      GGUF " << source.file->version() << ", "
      << megabytes(source.file->size()) << "\n";
  describe_config(out, weights.config());
  describe_tensors(out, *source.file, arguments.tensors);
  describe_tokenizer(out, source.tokenizer);
  describe_state(out, weights.config());
  write_out(out.str());
  return kOk;
}

} // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "Say what a model file holds");
  const auto arguments = std::make_shared<InspectArguments>();
  command->add_option("model,-m,--model", arguments->model, "Model file (GGUF)")
      ->type_name("FILE")
      ->required();
  command->add_flag("--tensors", arguments->tensors, "List every tensor");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_inspect);
}

} // namespace holdfast::app
