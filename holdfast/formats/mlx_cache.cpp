// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/mlx_cache.h"

#include <charconv>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/gguf_array.h"

namespace holdfast {

namespace {

using Kind = MlxLayerCache::Kind;

constexpr int64_t kMostLayers = 4096;
constexpr int64_t kMostNumber = int64_t{1} << 31;

class Reader {
 public:
  explicit Reader(const SafetensorsFile& file)
      : file_(file), metadata_(file.header().metadata) {
    const auto mark = metadata_.find("2.0");
    states_ = mark != metadata_.end() && mark->second.empty();
  }

  MlxCache read() {
    MlxCache cache;
    const std::string classes = states_ ? "1." : "2.";
    for (int64_t i = 0; i < kMostLayers; ++i) {
      const auto name = metadata_.find(classes + std::to_string(i));
      if (name == metadata_.end()) {
        break;
      }
      layer_ = i;
      cache.layers.push_back(layer(name->second));
    }
    if (cache.layers.empty()) {
      complain("the caches of an mlx-lm model", "none");
    }
    const std::string_view users = states_ ? "0." : "1.";
    for (const auto& [key, value] : metadata_) {
      if (key.starts_with(users)) {
        cache.metadata.emplace(key.substr(users.size()), value);
      }
    }
    return cache;
  }

 private:
  [[noreturn]] void complain(
      const std::string& expected,
      const std::string& got,
      ErrorCode code = ErrorCode::kCorrupt) const {
    throw Error(
        code,
        file_.path() + ": layer " + std::to_string(layer_) + ": expected " +
            expected + ", got " + got);
  }

  std::string name(const std::string& part) const {
    return std::to_string(layer_) + "." + part;
  }

  const StoredTensor& tensor(const std::string& part, size_t dims) const {
    const StoredTensor* found = file_.find(name(part));
    if (!found || found->shape.size() != dims || found->elements() == 0) {
      complain(
          "a tensor " + name(part) + " of " + std::to_string(dims) +
              " dimensions",
          found ? "another shape, or an empty one" : "none");
    }
    if (found->shape[0] != 1) {
      complain(
          "one sequence",
          std::to_string(found->shape[0]),
          ErrorCode::kUnsupported);
    }
    return *found;
  }

  /// A number of the state (0.32.2), or the i-th text of the metadata.
  int64_t number(const std::string& part, const std::string& text) const {
    const int64_t value = states_ ? of_tensor(part) : of_text(text);
    if (value < 0 || value >= kMostNumber) {
      complain("a number in [0, 2^31)", std::to_string(value));
    }
    return value;
  }
  int64_t of_tensor(const std::string& part) const {
    const StoredTensor* found = file_.find(name(part));
    const bool whole = found && found->shape.empty() &&
        (found->type == TensorType::kI32 || found->type == TensorType::kU32 ||
         found->type == TensorType::kI64);
    if (!whole) {
      complain("a whole number " + name(part), found ? "another" : "none");
    }
    const std::vector<std::byte> bytes = file_.read(*found).value();
    return found->type == TensorType::kI64
        ? load_unaligned<int64_t>(bytes.data())
        : int64_t{load_unaligned<int32_t>(bytes.data())};
  }
  int64_t of_text(const std::string& text) const {
    const auto found = metadata_.find("0." + name(text));
    int64_t value = -1;
    if (found != metadata_.end()) {
      const char* end = found->second.data() + found->second.size();
      if (std::from_chars(found->second.data(), end, value).ptr != end) {
        value = -1;
      }
    }
    return value;
  }

  MlxLayerCache layer(const std::string& class_name) {
    MlxLayerCache layer;
    layer.class_name = class_name;
    if (class_name == "KVCache") {
      read_plain(layer);
    } else if (class_name == "QuantizedKVCache") {
      read_quantized(layer);
    } else if (class_name == "RotatingKVCache") {
      read_rotating(layer);
    } else if (class_name == "ArraysCache" || class_name == "MambaCache") {
      read_arrays(layer);
    } else {
      complain(
          "KVCache, QuantizedKVCache, RotatingKVCache or ArraysCache",
          quoted_text(class_name),
          ErrorCode::kUnsupported);
    }
    return layer;
  }

  void read_plain(MlxLayerCache& layer) {
    add_channels(layer);
    layer.offset =
        Position(states_ ? number("2", "") : layer.tensors[0]->shape[2]);
    if (layer.offset.get() > layer.room()) {
      complain(
          "an offset of at most " + std::to_string(layer.room()),
          std::to_string(layer.offset.get()));
    }
  }

  void add_channels(MlxLayerCache& layer) {
    layer.tensors = {&tensor("0", 4), &tensor("1", 4)};
    require_alike(*layer.tensors[0], *layer.tensors[1]);
  }
  /// The same heads and slots.
  void require_alike(const StoredTensor& a, const StoredTensor& b) const {
    if (a.shape[1] != b.shape[1] || a.shape[2] != b.shape[2]) {
      complain("keys and values of the same heads and slots", "others");
    }
  }

  void read_quantized(MlxLayerCache& layer) {
    layer.kind = Kind::kQuantized;
    for (const char* part : {"0.0", "0.1", "0.2", "1.0", "1.1", "1.2"}) {
      layer.tensors.push_back(&tensor(part, 4));
      require_alike(*layer.tensors.front(), *layer.tensors.back());
    }
    layer.offset = Position(number("2", "0"));
    layer.group_size = number("3", "1");
    layer.bits = number("4", "2");
    if (layer.bits < 2 || layer.bits > 8 || layer.bits == 7 ||
        layer.group_size < 1 || layer.group_size > 1024 ||
        layer.offset.get() > layer.room()) {
      complain("2 to 8 bits, groups and an offset that fit", "others");
    }
    for (const size_t of : {size_t{0}, size_t{3}}) {
      const StoredTensor& codes = *layer.tensors[of];
      const StoredTensor& scales = *layer.tensors[of + 1];
      if (codes.type != TensorType::kU32 ||
          scales.shape != layer.tensors[of + 2]->shape ||
          codes.shape[3] * 32 !=
              scales.shape[3] * layer.group_size * layer.bits) {
        complain("codes, scales and biases that fit", "others");
      }
    }
  }

  void read_rotating(MlxLayerCache& layer) {
    layer.kind = Kind::kRotating;
    add_channels(layer);
    layer.offset = Position(number("2", "2"));
    layer.keep = number("3", "0");
    layer.max_size = number("4", "1");
    layer.next = number("5", "3");
    const int64_t room = layer.room();
    const int64_t offset = layer.offset.get();
    const bool grows = layer.next == offset; // no slot was used twice
    const bool right = layer.keep <= layer.max_size && layer.next <= room &&
        (grows ||
         (layer.next >= layer.keep && layer.keep < room && room <= offset));
    if (!right) {
      complain("a ring of the offset that it names", "another");
    }
  }

  void read_arrays(MlxLayerCache& layer) {
    layer.kind = Kind::kArrays;
    const std::string list = states_ ? "0." : "";
    layer.tensors = {&tensor(list + "0", 3), &tensor(list + "1", 4)};
    if (file_.find(name(list + "2"))) {
      complain("two arrays", "more", ErrorCode::kUnsupported);
    }
    for (const char* part : {"1", "2"}) {
      const StoredTensor* other = states_ ? file_.find(name(part)) : nullptr;
      if (other && other->elements() > 0) {
        complain("no padding and no lengths", "some", ErrorCode::kUnsupported);
      }
    }
  }

  const SafetensorsFile& file_;
  const std::map<std::string, std::string, std::less<>>& metadata_;
  bool states_ = false; // 0.32.2
  int64_t layer_ = 0;
};

/// Codes lie one after the other, lowest bits first, in words of 32 bits.
uint32_t code_at(const std::byte* words, int64_t index, int64_t bits) {
  const int64_t bit = index * bits;
  const int64_t word = bit / 32;
  const int64_t shift = bit % 32;
  uint64_t both = load_unaligned<uint32_t>(words + 4 * word);
  if (shift + bits > 32) {
    both |= uint64_t{load_unaligned<uint32_t>(words + 4 * (word + 1))} << 32;
  }
  return static_cast<uint32_t>(both >> shift) & ((1U << bits) - 1);
}

std::vector<float> dequantized(
    const SafetensorsFile& file,
    const MlxLayerCache& layer,
    size_t first) {
  const std::vector<std::byte> codes = file.read(*layer.tensors[first]).value();
  const auto scales = file.read_floats(*layer.tensors[first + 1]).value();
  const auto biases = file.read_floats(*layer.tensors[first + 2]).value();
  const int64_t dim = layer.dim(first > 0);
  const int64_t words = layer.tensors[first]->shape[3];
  const int64_t groups = dim / layer.group_size;
  const int64_t vectors = layer.heads() * layer.room();
  std::vector<float> values(static_cast<size_t>(vectors * dim));
  for (int64_t v = 0; v < vectors; ++v) {
    const std::byte* line = codes.data() + v * words * 4;
    for (int64_t i = 0; i < dim; ++i) {
      const auto group = static_cast<size_t>(v * groups + i / layer.group_size);
      values[static_cast<size_t>(v * dim + i)] = biases[group] +
          scales[group] * static_cast<float>(code_at(line, i, layer.bits));
    }
  }
  return values;
}

} // namespace

int64_t MlxLayerCache::heads() const {
  return tensors[0]->shape[1];
}

int64_t MlxLayerCache::room() const {
  return tensors[0]->shape[2];
}

int64_t MlxLayerCache::dim(bool values) const {
  if (kind == Kind::kQuantized) {
    return tensors[values ? 4 : 1]->shape[3] * group_size;
  }
  return tensors[values ? 1 : 0]->shape[3];
}

std::vector<int64_t> MlxLayerCache::slots() const {
  std::vector<int64_t> order;
  const auto add = [&](int64_t first, int64_t end) {
    for (; first < end; ++first) {
      order.push_back(first);
    }
  };
  if (kind != Kind::kRotating || next == offset.get()) {
    add(0, offset.get());
  } else if (next == room()) {
    add(keep, room());
  } else {
    add(next, room());
    add(keep, next);
  }
  return order;
}

Result<MlxCache> read_mlx_cache(const SafetensorsFile& file) {
  try {
    return Reader(file).read();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<std::vector<float>> read_mlx_channel(
    const SafetensorsFile& file,
    const MlxLayerCache& layer,
    bool values) {
  try {
    if (layer.kind == Kind::kQuantized) {
      return dequantized(file, layer, values ? 3 : 0);
    }
    return file.read_floats(*layer.tensors[values ? 1 : 0]);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
