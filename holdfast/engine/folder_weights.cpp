// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/folder_weights.h"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "holdfast/base/check.h"
#include "holdfast/base/quoted_text.h"
#include "holdfast/engine/folder_config.h"

namespace holdfast {

namespace {

constexpr std::string_view kWeight = ".weight";

ModelConfig named_config(const Settings& settings, const std::string& folder) {
  ModelConfig config = folder_model_config(settings);
  std::error_code error;
  const auto real = std::filesystem::canonical(folder, error);
  config.name = (error ? std::filesystem::path(folder) : real).filename();
  return config;
}

/// Whether a tensor that no family asked for would change what the language
/// part answers. Not the output of a model whose output is its table, angles of
/// ropes as old checkpoints keep them, and keys and values of layers that read
/// another's.
bool adds_to_answers(std::string_view name, std::string_view family) {
  const bool of_donor = family.starts_with("gemma4") &&
      (name.find(".self_attn.k_") != name.npos ||
       name.find(".self_attn.v_") != name.npos);
  return (name.starts_with("layers.") || name.starts_with("embed_tokens.") ||
          name.starts_with("norm.") || name == "lm_head.bias") &&
      !name.ends_with(".rotary_emb.inv_freq") && !of_donor;
}

} // namespace

FolderWeights::FolderWeights(
    const std::string& folder,
    std::shared_ptr<Executor> executor,
    Progress progress)
    : folder_(folder),
      executor_(std::move(executor)),
      progress_(std::move(progress)),
      settings_(read_folder_settings(folder)),
      config_(named_config(settings_, folder)),
      quantization_(settings_),
      files_(SafetensorsFolder::open(folder).value()) {
  for (const auto& [name, tensor] : files_.tensors()) {
    const auto [at, added] =
        names_.emplace(canonical_name(name), Entry{name, &tensor});
    if (!added) {
      throw Error(
          ErrorCode::kCorrupt,
          tensor.shard->shown + ": expected each tensor once, got " +
              quoted_text(name) + " beside " + quoted_text(at->second.name));
    }
    total_ += tensor.stored.bytes;
  }
}

bool FolderWeights::has(std::string_view name) const {
  const auto rows = published_rows(name);
  return look(name) != nullptr ||
      (rows && look(name.ends_with(kWeight) ? rows->blocks : rows->bias));
}

const FolderWeights::Entry* FolderWeights::look(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  return found == names_.end() ? nullptr : &found->second;
}

const FolderWeights::Entry& FolderWeights::find(std::string_view name) const {
  const Entry* entry = look(name);
  if (entry == nullptr) {
    throw Error(
        ErrorCode::kCorrupt,
        folder_ + ": tensor " + std::string(name) +
            ": expected it in one of the files, got none");
  }
  return *entry;
}

Error FolderWeights::refusal(
    std::string_view name,
    const std::string& expected,
    const std::string& got,
    ErrorCode code) const {
  const Entry* entry = look(name);
  return {
      code,
      (entry ? entry->tensor->shard->shown : folder_) + ": tensor " +
          escaped_text(entry ? entry->name : name) + ": expected " + expected +
          ", got " + got};
}

bool FolderWeights::is_quantized(std::string_view name) const {
  if (!name.ends_with(kWeight)) {
    return false;
  }
  const Entry* entry = look(name);
  return entry != nullptr && entry->tensor->stored.type == TensorType::kU32;
}

FolderWeights::Module FolderWeights::module_of(std::string_view name) const {
  const std::string module(name.substr(0, name.size() - kWeight.size()));
  const auto kind = quantization_.of(module);
  if (!kind) {
    throw refusal(
        name,
        "BF16, F16 or F32, as config.json names no quantisation of it",
        "U32",
        ErrorCode::kUnsupported);
  }
  const bool affine = kind->mode == MlxQuantized::Mode::kAffine;
  Module result{.matrix = {.kind = *kind}, .parts = {}};
  result.parts = {find(name).tensor, find(module + ".scales").tensor};
  if (affine) {
    result.parts.push_back(find(module + ".biases").tensor);
  }
  const StoredTensor& codes = result.parts[0]->stored;
  const int64_t words = codes.shape.empty() ? 0 : codes.shape.back();
  MlxModule& matrix = result.matrix;
  matrix.k = words * 32 / kind->bits;
  if (words == 0 || codes.elements() == 0 || words * 32 % kind->bits != 0 ||
      matrix.k % kind->group != 0) {
    throw refusal(
        name,
        "rows of " + std::to_string(kind->bits) +
            " bits a weight in groups of " + std::to_string(kind->group) +
            " (config.json: quantization)",
        "shape " + shape_text(codes.shape));
  }
  matrix.n = codes.elements() / words;
  matrix.type = result.parts[1]->stored.type;
  require_part(module + ".scales", result);
  if (affine) {
    require_part(module + ".biases", result);
    matrix.biases = result.parts[2]->bytes().data();
  }
  matrix.codes = result.parts[0]->bytes().data();
  matrix.scales = result.parts[1]->bytes().data();
  return result;
}

/// Scales or biases: one a group, both of one type.
void FolderWeights::require_part(const std::string& name, const Module& module)
    const {
  const StoredTensor& stored = find(name).tensor->stored;
  const int bits = module.matrix.kind.bits;
  const int group = module.matrix.kind.group;
  std::vector<int64_t> shape = module.parts[0]->stored.shape;
  shape.back() = module.matrix.k / group;
  if (stored.shape != shape) {
    throw refusal(
        name,
        "shape " + shape_text(shape) + " for " + std::to_string(bits) +
            " bits in groups of " + std::to_string(group),
        shape_text(stored.shape));
  }
  const bool affine = module.matrix.kind.mode == MlxQuantized::Mode::kAffine;
  const bool known = affine
      ? stored.type == module.matrix.type && is_float(stored.type)
      : stored.type_name == "U8";
  if (!known) {
    throw refusal(
        name,
        affine ? "BF16, F16 or F32, of scales and biases alike" : "U8",
        stored.type_name,
        ErrorCode::kUnsupported);
  }
}

std::vector<int64_t> FolderWeights::dims(std::string_view name) const {
  std::vector<int64_t> shape = find(name).tensor->stored.shape;
  if (is_quantized(name)) {
    shape.back() = module_of(name).matrix.k;
  }
  return shape;
}

void FolderWeights::require_dense(std::string_view name) const {
  const StoredTensor& stored = find(name).tensor->stored;
  if (!is_float(stored.type)) {
    throw refusal(
        name, "BF16, F16 or F32", stored.type_name, ErrorCode::kUnsupported);
  }
}

void FolderWeights::require_all_read() const {
  for (const auto& [name, tensor] : files_.tensors()) {
    const std::string own = canonical_name(name);
    if (!read_.contains(&tensor) && adds_to_answers(own, config_.family)) {
      throw refusal(
          own,
          "tensors of the family \"" + escaped_text(config_.family) +
              "\" with these settings",
          "another",
          ErrorCode::kUnsupported);
    }
  }
}

void FolderWeights::finished(const Tensor& tensor) const {
  read_.insert(&tensor);
  tensor.drop();
  done_ += tensor.stored.bytes;
  if (progress_) {
    progress_(std::min(done_, total_), total_);
  }
}

cpu::Weight FolderWeights::pack_dense(
    TensorType type,
    const std::byte* first,
    int64_t n,
    int64_t k) const {
  if (type == TensorType::kBF16) {
    return cpu::Weight::pack_halves(
        n,
        k,
        [=](int64_t row, uint16_t* values) {
          std::memcpy(values, first + 2 * row * k, static_cast<size_t>(2 * k));
        },
        *executor_);
  }
  const int64_t row_bytes = k * (type == TensorType::kF32 ? 4 : 2);
  return cpu::Weight::pack_values(
      cpu::WeightFormat::Kind::kF32,
      n,
      k,
      [=](int64_t row, float* values) {
        read_tensor_floats(type, first + row * row_bytes, k, values);
      },
      *executor_);
}

cpu::Weight FolderWeights::pack_module(const MlxModule& module) const {
  // Scales of 24 bits do not fit the format of codes: then the weights that
  // they give are kept themselves.
  if (module.kind.mode == MlxQuantized::Mode::kAffine &&
      module.type == TensorType::kF32) {
    return cpu::Weight::pack_values(
        cpu::WeightFormat::Kind::kF32,
        module.n,
        module.k,
        [&](int64_t row, float* values) { module.read_values(row, values); },
        *executor_);
  }
  return cpu::Weight::pack_codes(
      module.format(),
      module.n,
      module.k,
      [&](int64_t row, const cpu::CodeRow& out) {
        module.read_codes(row, out);
      },
      *executor_);
}

std::vector<cpu::Weight>
FolderWeights::pack(std::string_view name, int64_t count, int64_t n, int64_t k)
    const {
  std::vector<cpu::Weight> result;
  const Tensor& tensor = *find(name).tensor;
  if (!is_quantized(name)) {
    require_dense(name);
    const TensorType type = tensor.stored.type;
    const int64_t bytes = n * k * (type == TensorType::kF32 ? 4 : 2);
    for (int64_t i = 0; i < count; ++i) {
      result.push_back(
          pack_dense(type, tensor.bytes().data() + i * bytes, n, k));
    }
    finished(tensor);
    return result;
  }
  const Module module = module_of(name);
  try {
    for (int64_t i = 0; i < count; ++i) {
      result.push_back(pack_module(module.matrix.rows(i * n, n)));
    }
  } catch (const Error& error) {
    throw Error(
        ErrorCode::kCorrupt,
        tensor.shard->shown + ": tensor " + escaped_text(name) + ": " +
            error.what());
  }
  for (const Tensor* part : module.parts) {
    finished(*part);
  }
  return result;
}

void FolderWeights::require_shape(
    std::string_view name,
    const std::vector<int64_t>& shape) const {
  if (const auto got = dims(name); got != shape) {
    throw refusal(name, "shape " + shape_text(shape), shape_text(got));
  }
}

cpu::Weight
FolderWeights::matrix(std::string_view name, int64_t n, int64_t k) const {
  require_shape(name, {n, k});
  return pack(name, 1, n, k)[0];
}

std::vector<cpu::Weight>
FolderWeights::stack(std::string_view name, int64_t count, int64_t n, int64_t k)
    const {
  const auto rows = published_rows(name);
  if (rows && look(name) == nullptr && look(rows->blocks) != nullptr) {
    return pack_published(*rows, count, n, k);
  }
  if (dims(name).size() == 2) {
    require_shape(name, {count * n, k});
  } else {
    require_shape(name, {count, n, k});
  }
  return pack(name, count, n, k);
}

std::vector<float>
FolderWeights::vector(std::string_view name, int64_t n) const {
  const auto rows = published_rows(name);
  if (rows && look(name) == nullptr && look(rows->bias) != nullptr) {
    const auto all = vector(rows->bias, n * rows->step);
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) {
      values.push_back(all[static_cast<size_t>(i * rows->step + rows->first)]);
    }
    return values;
  }
  const Entry& entry = find(name);
  int64_t elements = 1;
  const auto got = dims(name);
  for (const int64_t size : got) {
    elements *= size;
  }
  if (elements != n) {
    throw refusal(
        name, std::to_string(n) + " elements", "shape " + shape_text(got));
  }
  std::vector<float> values(static_cast<size_t>(n));
  std::vector<const Tensor*> parts{entry.tensor};
  if (is_quantized(name)) {
    const Module module = module_of(name);
    parts = module.parts;
    for (int64_t row = 0; row < module.matrix.n; ++row) {
      module.matrix.read_values(row, values.data() + row * module.matrix.k);
    }
  } else {
    require_dense(name);
    read_tensor_floats(
        entry.tensor->stored.type,
        entry.tensor->bytes().data(),
        n,
        values.data());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw refusal(
          name,
          "finite numbers",
          std::to_string(values[i]) + " at index " + std::to_string(i));
    }
  }
  for (const Tensor* part : parts) {
    finished(*part);
  }
  return values;
}

} // namespace holdfast
