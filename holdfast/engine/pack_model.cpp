// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/pack_model.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/check.h"
#include "holdfast/base/quoted_text.h"
#include "holdfast/engine/folder_config.h"
#include "holdfast/engine/pack_plan.h"
#include "holdfast/env/folder_file.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/formats/safetensors_index.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;

/// What goes along as it is, where it is there.
constexpr const char* kCopied[] = {
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "generation_config.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json"};
constexpr int64_t kWeightsAtOnce = int64_t{1} << 22;

/// A folder that is filled under a name of its own, and removed unless it is
/// given the name it is for.
class UnfinishedFolder {
 public:
  UnfinishedFolder(FileSystem& files, const std::string& out)
      : files_(files), out_(out) {
    const fs::path path = fs::path(out_).lexically_normal();
    const fs::path whole = path.has_filename() ? path : path.parent_path();
    parent_ = whole.has_parent_path() ? whole.parent_path().string() : ".";
    std::random_device random;
    path_ = parent_ + "/." + whole.filename().string() + ".unfinished-" +
        std::to_string(random());
    require_absent();
    files_.create_folder(path_).check();
  }
  ~UnfinishedFolder() {
    // What cannot be removed stays behind under a name that says what it is.
    const auto names = files_.list(path_);
    if (names.ok()) {
      for (const std::string& name : names.value()) {
        static_cast<void>(files_.remove(file(name)));
      }
      static_cast<void>(files_.remove(path_));
    }
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  std::string file(const std::string& name) const {
    return path_ + "/" + name;
  }
  const std::string& parent() const {
    return parent_;
  }
  void add(const std::string& name, std::span<const std::byte> bytes) const {
    const auto made = files_.create(file(name)).value();
    made->write(Bytes(0), bytes).check();
    made->sync().check();
  }
  void finish() {
    files_.sync_folder(path_).check();
    require_absent();
    files_.rename(path_, out_).check();
    files_.sync_folder(parent_).check();
  }

 private:
  void require_absent() const {
    const auto there = files_.facts(out_);
    if (there.status().code() != ErrorCode::kNotFound) {
      there.ok() ? throw Error(
                       ErrorCode::kInvalidArgument,
                       out_ +
                           ": expected a name that is free, got one that "
                           "exists")
                 : there.status().check();
    }
  }

  FileSystem& files_;
  const std::string out_;
  std::string parent_;
  std::string path_;
};

/// Rows [first, first + count) of a matrix, as MLX has them.
mx::array
rows_of(const SafetensorsFolder::Tensor& tensor, int64_t first, int64_t count) {
  const int64_t k = tensor.stored.shape[1];
  const bool wide = tensor.stored.type == TensorType::kF32;
  const std::byte* from = tensor.bytes().data() + first * k * (wide ? 4 : 2);
  const mx::Shape shape{static_cast<int>(count), static_cast<int>(k)};
  const auto copied = [&]<class T>(std::vector<T> values, mx::Dtype dtype) {
    std::memcpy(values.data(), from, values.size() * sizeof(T));
    return mx::array(values.begin(), shape, dtype);
  };
  const auto size = static_cast<size_t>(count * k);
  switch (tensor.stored.type) {
    case TensorType::kF32:
      return copied(std::vector<float>(size), mx::float32);
    case TensorType::kF16:
      return copied(std::vector<mx::float16_t>(size), mx::float16);
    default:
      return copied(std::vector<mx::bfloat16_t>(size), mx::bfloat16);
  }
}

std::span<const std::byte> bytes_of(const mx::array& array) {
  return {
      reinterpret_cast<const std::byte*>(array.data<uint8_t>()),
      array.nbytes()};
}

class Packer {
 public:
  Packer(FileSystem& files, const PackJob& job)
      : files_(files), job_(job), model_(opened(job)) {}

  PackReport run() {
    const PackPlan plan = plan_pack(model_, job_.kind);
    const std::string config = config_text();
    UnfinishedFolder out(files_, job_.out);
    require_room(out.parent(), plan);
    total_ = plan.source;
    for (const PackedFile& file : plan.files) {
      write_file(file, out);
    }
    add_text(out, kSafetensorsIndex, plan.index());
    add_text(out, "config.json", config);
    for (const char* name : kCopied) {
      copy(name, out);
    }
    require_going_on();
    out.finish();
    return {
        .tensors = std::ssize(model_.tensors()),
        .quantized = plan.quantized,
        .files = std::ssize(plan.files),
        .source = plan.source,
        .written = plan.written};
  }

 private:
  /// The model's tensors, once it is known that they are not quantised.
  static SafetensorsFolder opened(const PackJob& job) {
    const Settings settings = read_folder_settings(job.model);
    // gpt-oss as published names the codes of its experts so.
    for (const char* name : {"quantization", "quantization_config"}) {
      if (settings.has(name)) {
        throw settings.refusal(
            name,
            "a model that is not quantised",
            "one that is",
            ErrorCode::kInvalidArgument);
      }
    }
    return SafetensorsFolder::open(job.model).value();
  }

  void require_going_on() const {
    if (job_.interrupted != nullptr && *job_.interrupted) {
      throw Error(
          ErrorCode::kStale,
          job_.out +
              ": expected to be finished, got an "
              "interrupt");
    }
  }

  void require_room(const std::string& parent, const PackPlan& plan) const {
    const Bytes room = files_.free_space(parent).value();
    if (room < plan.written) {
      throw Error(
          ErrorCode::kOutOfBudget,
          parent + ": expected room for " + std::to_string(plan.written.get()) +
              " bytes, got " + std::to_string(room.get()));
    }
  }

  /// The model's own, and how it is quantised; twice, as mlx-lm writes it.
  std::string config_text() const {
    const MappedFile file =
        MappedFile::open(file_in_folder(job_.model, "config.json").value())
            .value();
    const auto bytes = file.bytes();
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    auto json = nlohmann::ordered_json::parse(text, text + bytes.size());
    json["quantization"] = {
        {"group_size", job_.kind.group},
        {"bits", job_.kind.bits},
        {"mode", "affine"}};
    json["quantization_config"] = json["quantization"];
    return json.dump(4) + "\n";
  }

  static void add_text(
      const UnfinishedFolder& out,
      const std::string& name,
      const std::string& text) {
    out.add(name, std::as_bytes(std::span(text)));
  }

  void copy(const std::string& name, const UnfinishedFolder& out) const {
    const auto path = file_in_folder(job_.model, name);
    if (path.status().code() != ErrorCode::kNotFound) {
      out.add(name, MappedFile::open(path.value()).value().bytes());
    }
  }

  void write_file(const PackedFile& file, const UnfinishedFolder& out) {
    const auto writer =
        SafetensorsWriter::create(files_, out.file(file.name), file.tensors)
            .value();
    for (const std::string& name : file.sources) {
      const auto& tensor = model_.tensors().at(name);
      if (is_packed(name, tensor.stored, job_.kind.group)) {
        quantize(name, tensor, *writer);
      } else {
        require_going_on();
        writer->write(name, Bytes(0), tensor.bytes()).check();
        advance(tensor.stored.bytes);
      }
      tensor.drop();
    }
    writer->finish().check();
  }

  void quantize(
      const std::string& name,
      const SafetensorsFolder::Tensor& tensor,
      SafetensorsWriter& writer) {
    const int64_t n = tensor.stored.shape[0], k = tensor.stored.shape[1];
    const int64_t step = std::max<int64_t>(1, kWeightsAtOnce / k);
    for (int64_t first = 0; first < n; first += step) {
      require_going_on();
      const int64_t count = std::min(step, n - first);
      auto parts = mx::quantize(
          rows_of(tensor, first, count),
          job_.kind.group,
          job_.kind.bits,
          "affine",
          std::nullopt,
          mx::Device(mx::Device::cpu));
      mx::eval(parts);
      require_finite(name, tensor, parts);
      const std::string names[] = {
          name, module_part(name, "scales"), module_part(name, "biases")};
      for (size_t i = 0; i < 3; ++i) {
        const auto bytes = bytes_of(parts[i]);
        const int64_t row = std::ssize(bytes) / count;
        writer.write(names[i], Bytes(first * row), bytes).check();
      }
      advance(Bytes(tensor.stored.bytes.get() / n * count));
    }
  }

  static void require_finite(
      const std::string& name,
      const SafetensorsFolder::Tensor& tensor,
      const std::vector<mx::array>& parts) {
    for (size_t i = 1; i < 3; ++i) {
      std::vector<float> values(parts[i].size());
      read_tensor_floats(
          tensor.stored.type,
          bytes_of(parts[i]).data(),
          std::ssize(values),
          values.data());
      for (const float value : values) {
        if (!std::isfinite(value)) {
          throw Error(
              ErrorCode::kCorrupt,
              tensor.shard->shown + ": tensor " + escaped_text(name) +
                  ": expected finite weights, got " + std::to_string(value));
        }
      }
    }
  }

  void advance(Bytes bytes) {
    done_ += bytes;
    if (job_.progress) {
      job_.progress(done_, total_);
    }
  }

  FileSystem& files_;
  const PackJob& job_;
  const SafetensorsFolder model_;
  Bytes total_;
  Bytes done_;
};

} // namespace

PackReport pack_model(FileSystem& files, const PackJob& job) {
  return Packer(files, job).run();
}

} // namespace holdfast
