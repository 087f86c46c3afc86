// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_weights.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/engine/gguf_names.h"
#include "holdfast/engine/gguf_rope.h"
#include "holdfast/engine/gguf_settings.h"

namespace holdfast {

namespace {

/// Reads "<family>.<key>" entries and remembers the first one missing.
class ConfigReader {
 public:
  ConfigReader(const GgufFile& file, std::string family)
      : file_(file), prefix_(std::move(family) + ".") {}

  /// At least 1; 0 where absent.
  int64_t size(const char* key, int64_t most = kMostModelSize) {
    const std::string name = prefix_ + key;
    const auto value = file_.integer(name);
    if (value && (*value < 1 || *value > most)) {
      throw file_.refusal(
          name, "1 to " + std::to_string(most), std::to_string(*value));
    }
    return value.value_or(0);
  }
  /// The same, where 0 may stand for none.
  int64_t size_or_none(const char* key, int64_t most) {
    return file_.integer(prefix_ + key) == 0 ? 0 : size(key, most);
  }
  /// At least 1, remembered where absent.
  int64_t required_size(const char* key) {
    const int64_t value = size(key);
    if (value == 0) {
      miss(key, "a number");
    }
    return value;
  }
  /// Above 0 and a normal f32, which is what models compute with; 0 where
  /// absent.
  double number(const char* key) const {
    const std::string name = prefix_ + key;
    const auto value = file_.number(name);
    if (value &&
        !(*value >= std::numeric_limits<float>::min() &&
          *value <= std::numeric_limits<float>::max())) {
      char got[32];
      std::snprintf(got, sizeof got, "%g", *value);
      throw file_.refusal(name, "a number from 1.2e-38 to 3.4e38", got);
    }
    return value.value_or(0);
  }
  /// Of positions, evenly or not at all.
  GgufScaling even_scaling() const {
    const GgufScaling scaling = gguf_scaling(file_, prefix_);
    if (scaling.type != "linear" && scaling.type != "none") {
      throw refusal(
          "rope.scaling.type", "none or linear", quoted_text(scaling.type));
    }
    if (!(scaling.factor >= std::numeric_limits<float>::min() &&
          scaling.factor <= std::numeric_limits<float>::max())) {
      throw refusal(
          "rope.scaling.factor",
          "a number from 1.2e-38 to 3.4e38",
          std::to_string(scaling.factor));
    }
    return scaling;
  }
  Error
  refusal(const char* key, const char* expected, std::string_view got) const {
    return file_.refusal(prefix_ + key, expected, got);
  }
  void miss(const char* key, const char* expected) {
    if (!missing_) {
      missing_ = refusal(key, expected, "no such key");
    }
  }
  const std::optional<Error>& missing() const {
    return missing_;
  }

 private:
  const GgufFile& file_;
  const std::string prefix_;
  std::optional<Error> missing_;
};

/// Of gemma3, whose settings are not translated: what its scaling, its sliding
/// layers and its logits may say.
void read_own(ConfigReader& reader, ModelConfig& config) {
  const GgufScaling scaling = reader.even_scaling();
  if (scaling.type == "linear") {
    config.rope_scale = 1.0 / scaling.factor;
  }
  config.rope_base_local = reader.number("rope.freq_base_swa");
  constexpr int64_t kPattern = 6; // the family's
  const int64_t pattern = reader.size("attention.sliding_window_pattern");
  if (pattern != 0 && pattern != kPattern) {
    throw reader.refusal(
        "attention.sliding_window_pattern", "6", std::to_string(pattern));
  }
  if (reader.number("final_logit_softcapping") != 0.0) {
    throw reader.refusal(
        "final_logit_softcapping", "logits without a cap", "one");
  }
}

void read_heads(ConfigReader& reader, ModelConfig& config) {
  config.query_heads = reader.required_size("attention.head_count");
  config.kv_heads = reader.size("attention.head_count_kv");
  if (config.kv_heads == 0) {
    config.kv_heads = config.query_heads;
  }
  if (config.kv_heads > 0 && config.query_heads % config.kv_heads != 0) {
    throw reader.refusal(
        "attention.head_count_kv",
        "a divisor of attention.head_count",
        std::to_string(config.kv_heads));
  }
  config.head_dim = reader.size("attention.key_length");
  if (config.head_dim == 0 && config.query_heads > 0) {
    config.head_dim = config.hidden / config.query_heads;
  }
  const int64_t values = reader.size("attention.value_length");
  if (values != 0 && values != config.head_dim) {
    throw reader.refusal(
        "attention.value_length", "the length of keys", std::to_string(values));
  }
}

int64_t vocabulary(const GgufFile& file) {
  if (const auto tokens = file.texts("tokenizer.ggml.tokens")) {
    return tokens->size();
  }
  const GgufTensor* table = file.tensor("token_embd.weight");
  return table == nullptr ? 0 : table->ne[1];
}

/// Where row `row` of the published order lies: heads of 2 `pairs` rows, pair i
/// of them rows i and i + pairs as published, 2 i and 2 i + 1 in the file.
int64_t row_of(int64_t row, int64_t pairs) {
  if (pairs == 0) {
    return row;
  }
  const int64_t in_head = row % (2 * pairs);
  return row - in_head + 2 * (in_head % pairs) + in_head / pairs;
}

std::string shape(int64_t k, int64_t rows) {
  return "[" + std::to_string(k) +
      (rows == 0 ? "" : ", " + std::to_string(rows)) + "]";
}

} // namespace

GgufWeights::GgufWeights(
    const GgufFile& file,
    std::shared_ptr<Executor> executor,
    Progress progress)
    : file_(file),
      executor_(std::move(executor)),
      progress_(std::move(progress)),
      read_(file.tensors().size()) {
  const auto family = file.text("general.architecture");
  if (!family) {
    throw file.refusal(
        "general.architecture", "the model's family", "no such key");
  }
  family_ = gguf_family(*family);
  config_.family = family_.empty() ? escaped_text(*family) : family_;
  config_.name = file.text("general.name").value_or("");
  ConfigReader reader(file, std::string(*family));
  config_.layers = reader.required_size("block_count");
  config_.hidden = reader.required_size("embedding_length");
  config_.ffn = reader.required_size("feed_forward_length");
  read_heads(reader, config_);
  config_.vocab = vocabulary(file);
  config_.context = reader.size("context_length", int64_t{1} << 40);
  if (config_.context == 0) {
    reader.miss("context_length", "a number");
  }
  config_.window =
      reader.size_or_none("attention.sliding_window", int64_t{1} << 40);
  if (family_ == "gemma2" &&
      !file.integer(std::string(*family) + ".attention.sliding_window")) {
    config_.window = 4096; // files made before there was a key
  }
  config_.norm_eps = reader.number("attention.layer_norm_rms_epsilon");
  if (config_.norm_eps == 0) {
    reader.miss("attention.layer_norm_rms_epsilon", "a number");
  }
  config_.rope_base = reader.number("rope.freq_base");
  if (family_.empty()) {
    read_own(reader, config_);
  } else {
    settings_ = gguf_settings(file, config_);
  }
  incomplete_ = reader.missing();
}

bool GgufWeights::has(std::string_view name) const {
  return file_.tensor(gguf_tensor_name(family_, name)) != nullptr;
}

/// "<file>: tensor <name> at offset N: ".
std::string
GgufWeights::where_is(std::string_view name, const GgufTensor* tensor) const {
  return file_.part(tensor ? tensor->part : 0).name() + ": tensor " +
      std::string(name) +
      (tensor ? " at offset " + std::to_string(tensor->offset) : "") + ": ";
}

/// The tensor, which must have k elements (rows 0), or rows of k: [k, rows], or
/// a stack [k, n, rows / n], in the format's order.
const GgufTensor&
GgufWeights::find(std::string_view name, int64_t rows, int64_t k) const {
  if (incomplete_) {
    throw *incomplete_;
  }
  const std::string stored = gguf_tensor_name(family_, name);
  const GgufTensor* tensor = file_.tensor(stored);
  const std::string where = where_is(stored, tensor);
  if (tensor == nullptr) {
    throw Error(
        ErrorCode::kCorrupt,
        where + "expected shape " + shape(k, rows) + ", got no such tensor");
  }
  const bool fits = rows == 0 ? tensor->ne[0] * tensor->rows() == k
                              : tensor->ne[0] == k && tensor->rows() == rows;
  if (!fits) {
    std::string got;
    for (int i = 0; i < tensor->dims; ++i) {
      got += (i == 0 ? "[" : ", ") +
          std::to_string(tensor->ne[static_cast<size_t>(i)]);
    }
    throw Error(
        ErrorCode::kCorrupt,
        where + "expected shape " + shape(k, rows) + ", got " + got + "]");
  }
  return *tensor;
}

void GgufWeights::require_all_read() const {
  for (size_t i = 0; i < read_.size(); ++i) {
    const GgufTensor& tensor = file_.tensors()[i];
    const bool known = tensor.name == "rope_factors_short.weight" || // rope.h
        tensor.name.ends_with(".attn_rot_embd.weight"); // of old files
    if (!read_[i] && !known) {
      throw Error(
          ErrorCode::kUnsupported,
          where_is(tensor.name, &tensor) + "expected tensors of the family \"" +
              config_.family + "\" as it is here, got another");
    }
  }
}

void GgufWeights::finished(const GgufTensor& tensor) const {
  read_[static_cast<size_t>(&tensor - file_.tensors().data())] = true;
  if (const MappedFile* mapping = file_.part(tensor.part).mapping()) {
    mapping->drop(Bytes(tensor.offset), Bytes(tensor.bytes));
  }
  done_ += tensor.bytes;
  if (progress_) {
    progress_(Bytes(done_), Bytes(file_.data_bytes()));
  }
}

cpu::Weight GgufWeights::pack(
    const GgufTensor& tensor,
    int64_t first,
    int64_t n,
    int64_t pairs) const {
  const int64_t row_bytes = tensor.row_bytes();
  const std::byte* data = file_.data(tensor).data() + first * row_bytes;
  const int64_t k = tensor.ne[0];
  const GgufType type = tensor.type;
  const CodeFormat& codes = gguf_type_info(type).codes;
  const auto of = [=](int64_t row) {
    return data + row_of(row, pairs) * row_bytes;
  };
  try {
    if (type == GgufType::kBF16) {
      return cpu::Weight::pack_halves(
          n,
          k,
          [=](int64_t row, uint16_t* values) {
            std::memcpy(values, of(row), static_cast<size_t>(2 * k));
          },
          *executor_);
    }
    if (codes.bits == 0) {
      return cpu::Weight::pack_values(
          cpu::WeightFormat::Kind::kF32,
          n,
          k,
          [=](int64_t row, float* values) {
            read_values(type, of(row), k, values);
          },
          *executor_);
    }
    return cpu::Weight::pack_codes(
        {cpu::WeightFormat::Kind::kCodes,
         codes.bits,
         codes.group,
         codes.has_offsets},
        n,
        k,
        [=](int64_t row, const cpu::CodeRow& out) {
          unpack_row(type, of(row), k, out.codes, out.scales, out.offsets);
        },
        *executor_);
  } catch (const Error& error) {
    throw Error(
        ErrorCode::kCorrupt, where_is(tensor.name, &tensor) + error.what());
  }
}

int64_t GgufWeights::pairs_of(std::string_view name) const {
  const bool turned = name.find("self_attn.q_proj") != std::string_view::npos ||
      name.find("self_attn.k_proj") != std::string_view::npos;
  return family_ == "llama" && turned ? config_.head_dim / 2 : 0;
}

cpu::Weight
GgufWeights::matrix(std::string_view name, int64_t n, int64_t k) const {
  const GgufTensor& tensor = find(name, n, k);
  cpu::Weight weight = pack(tensor, 0, n, pairs_of(name));
  finished(tensor);
  return weight;
}

std::vector<cpu::Weight>
GgufWeights::stack(std::string_view name, int64_t count, int64_t n, int64_t k)
    const {
  const GgufTensor& tensor = find(name, count * n, k);
  std::vector<cpu::Weight> matrices;
  for (int64_t i = 0; i < count; ++i) {
    matrices.push_back(pack(tensor, i * n, n, 0));
  }
  finished(tensor);
  return matrices;
}

std::vector<float> GgufWeights::vector(std::string_view name, int64_t n) const {
  const GgufTensor& tensor = find(name, 0, n);
  std::vector<float> stored(static_cast<size_t>(n));
  read_values(tensor.type, file_.data(tensor).data(), n, stored.data());
  const int64_t pairs = pairs_of(name);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(stored[static_cast<size_t>(row_of(i, pairs))]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw Error(
          ErrorCode::kCorrupt,
          where_is(tensor.name, &tensor) + "expected finite numbers, got " +
              std::to_string(values[i]) + " at index " + std::to_string(i));
    }
  }
  finished(tensor);
  return values;
}

} // namespace holdfast
