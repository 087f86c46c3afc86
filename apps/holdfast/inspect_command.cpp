// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "holdfast/engine/folder_weights.h"

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

struct TensorFacts {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

std::vector<TensorFacts> tensors_of(const GgufFile& file) {
  std::vector<TensorFacts> result;
  for (const GgufTensor& tensor : file.tensors()) {
    result.push_back(
        {std::string(tensor.name),
         gguf_type_info(tensor.type).name,
         {tensor.ne.begin(), tensor.ne.begin() + tensor.dims},
         tensor.bytes});
  }
  return result;
}

std::vector<TensorFacts> tensors_of(const SafetensorsFolder& files) {
  std::vector<TensorFacts> result;
  for (const auto& [name, tensor] : files.tensors()) {
    const StoredTensor& stored = tensor.stored;
    result.push_back(
        {name, stored.type_name, stored.shape, stored.bytes.get()});
  }
  return result;
}

std::string shape(const TensorFacts& tensor) {
  std::string text;
  for (const int64_t size : tensor.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text.empty() ? "1" : text;
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

void describe_tensors(
    std::ostream& out,
    const std::vector<TensorFacts>& tensors,
    bool each) {
  struct Sum {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  std::map<std::string, Sum> types;
  for (const TensorFacts& tensor : tensors) {
    Sum& sum = types[tensor.type];
    ++sum.count;
    sum.bytes += tensor.bytes;
  }
  out << "tensors     " << tensors.size() << "\n";
  for (const auto& [type, sum] : types) {
    out << "  " << type
        << std::string(10 - std::min<size_t>(type.size(), 9), ' ') << sum.count
        << ", " << megabytes(sum.bytes) << "\n";
  }
  for (const TensorFacts& tensor : tensors) {
    if (each) {
      out << "  " << printable(tensor.name) << "  " << tensor.type << "  "
          << shape(tensor) << "\n";
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

/// Its format, and what there is of it.
void describe_file(std::ostream& out, const GgufFile& file) {
  out << "file        " << printable(file.name()) << "\n"
      << "format      GGUF " << file.version() << ", "
      << megabytes(file.size());
  if (file.parts() > 1) {
    out << " in " << file.parts() << " files";
  }
  out << "\n";
}

void describe_folder(
    std::ostream& out,
    const std::string& path,
    const SafetensorsFolder& files) {
  int64_t bytes = 0;
  for (const auto& shard : files.shards()) {
    bytes += std::ssize(shard->file.bytes());
  }
  out << "folder      " << printable(path) << "\n"
      << "format      safetensors, " << megabytes(bytes) << " in "
      << files.shards().size()
      << (files.shards().size() == 1 ? " file\n" : " files\n");
}

int run_inspect(const InspectArguments& arguments) {
  require_model(arguments.model);
  const FileGuard guard(arguments.model);
  const ModelFile source = open_model_file(arguments.model);
  std::ostringstream out;
  const auto describe = [&](const ModelConfig& config, const auto& tensors) {
    describe_config(out, config);
    describe_tensors(out, tensors, arguments.tensors);
    describe_tokenizer(out, source.tokenizer);
    describe_state(out, config);
  };
  if (source.file) {
    describe_file(out, *source.file);
    describe(
        GgufWeights(*source.file, nullptr).config(), tensors_of(*source.file));
  } else {
    const FolderWeights weights(arguments.model, nullptr);
    describe_folder(out, arguments.model, weights.files());
    describe(weights.config(), tensors_of(weights.files()));
  }
  write_out(out.str());
  return kOk;
}

} // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "Say what a model file holds");
  const auto arguments = std::make_shared<InspectArguments>();
  command
      ->add_option(
          "model,-m,--model", arguments->model, "A GGUF file or a folder")
      ->type_name("FILE")
      ->required();
  command->add_flag("--tensors", arguments->tensors, "List every tensor");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_inspect);
}

} // namespace holdfast::app
