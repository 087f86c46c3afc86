// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A small gemma3 model file with random weights and a vocabulary of bytes and a
// few words, for what reads files. Every call makes the same bytes. One thread.

#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "holdfast/base/bits.h"
#include "tests/formats/gguf_writer.h"

namespace holdfast::test {

struct TinyModel {
  static constexpr uint32_t kHidden = 64;
  static constexpr uint32_t kHeadDim = 64;
  static constexpr uint32_t kQueryHeads = 2;
  static constexpr uint32_t kFfn = 96;
  static constexpr uint32_t kLayers = 6; // the last is full
  static constexpr uint32_t kWindow = 16;
  static constexpr uint32_t kContext = 256;

  GgufImage image;
  std::string data;
  std::mt19937 random{7};

  /// The metadata and the tensors; a test may change the image before bytes().
  TinyModel() {
    add_config();
    add_vocabulary();
    add_matrix("token_embd.weight", GgufType::kQ8_0, kHidden, vocab());
    add_norm("output_norm.weight", kHidden);
    for (uint32_t i = 0; i < kLayers; ++i) {
      add_layer("blk." + std::to_string(i) + ".");
    }
  }

  uint32_t vocab() const {
    return static_cast<uint32_t>(pieces.size());
  }
  std::string bytes() const {
    std::string out = image.header();
    out.resize(image.aligned(out.size()));
    return out + data;
  }

  std::vector<std::string> pieces;

 private:
  void add_config() {
    image.add_text("general.architecture", "gemma3");
    image.add_text("general.name", "tiny");
    const auto number = [this](const char* key, uint32_t value) {
      image.add<uint32_t>(std::string("gemma3.") + key, GgufValue::kU32, value);
    };
    number("block_count", kLayers);
    number("embedding_length", kHidden);
    number("feed_forward_length", kFfn);
    number("attention.head_count", kQueryHeads);
    number("attention.head_count_kv", 1);
    number("attention.key_length", kHeadDim);
    number("attention.value_length", kHeadDim);
    number("attention.sliding_window", kWindow);
    number("context_length", kContext);
    image.add<float>(
        "gemma3.attention.layer_norm_rms_epsilon", GgufValue::kF32, 1e-6f);
    image.add<float>("gemma3.rope.freq_base", GgufValue::kF32, 1e6f);
  }

  void add_vocabulary() {
    std::vector<float> scores;
    std::vector<int32_t> types;
    const auto add = [&](const std::string& piece, int32_t type) {
      pieces.push_back(piece);
      scores.push_back(-static_cast<float>(pieces.size()));
      types.push_back(type);
    };
    add("<pad>", 3);
    add("<eos>", 3);
    add("<bos>", 3);
    add("<unk>", 2);
    for (int byte = 0; byte < 256; ++byte) {
      char text[8];
      std::snprintf(text, sizeof text, "<0x%02X>", byte);
      add(text, 6);
    }
    for (const char* piece :
         {"\xe2\x96\x81",
          "a",
          "b",
          "c",
          "d",
          "e",
          "h",
          "l",
          "o",
          "t",
          "he",
          "ll",
          "lo",
          "hell",
          "hello",
          "th",
          "the",
          "\xe2\x96\x81the"}) {
      add(piece, 1);
    }
    image.add_text("tokenizer.ggml.model", "llama");
    image.add_texts("tokenizer.ggml.tokens", pieces);
    image.add_values<float>("tokenizer.ggml.scores", GgufValue::kF32, scores);
    image.add_values<int32_t>(
        "tokenizer.ggml.token_type", GgufValue::kI32, types);
    image.add<uint32_t>("tokenizer.ggml.padding_token_id", GgufValue::kU32, 0);
    image.add<uint32_t>("tokenizer.ggml.eos_token_id", GgufValue::kU32, 1);
    image.add<uint32_t>("tokenizer.ggml.bos_token_id", GgufValue::kU32, 2);
    image.add<uint32_t>("tokenizer.ggml.unknown_token_id", GgufValue::kU32, 3);
    image.add<uint8_t>("tokenizer.ggml.add_space_prefix", GgufValue::kBool, 0);
  }

  void add_layer(const std::string& prefix) {
    const uint32_t query = kQueryHeads * kHeadDim;
    add_norm(prefix + "attn_norm.weight", kHidden);
    add_matrix(prefix + "attn_q.weight", GgufType::kQ8_0, kHidden, query);
    add_matrix(prefix + "attn_k.weight", GgufType::kBF16, kHidden, kHeadDim);
    add_matrix(prefix + "attn_v.weight", GgufType::kF32, kHidden, kHeadDim);
    add_norm(prefix + "attn_q_norm.weight", kHeadDim);
    add_norm(prefix + "attn_k_norm.weight", kHeadDim);
    add_matrix(prefix + "attn_output.weight", GgufType::kQ8_0, query, kHidden);
    add_norm(prefix + "post_attention_norm.weight", kHidden);
    add_norm(prefix + "ffn_norm.weight", kHidden);
    add_matrix(prefix + "ffn_gate.weight", GgufType::kQ8_0, kHidden, kFfn);
    add_matrix(prefix + "ffn_up.weight", GgufType::kQ8_0, kHidden, kFfn);
    add_matrix(prefix + "ffn_down.weight", GgufType::kQ8_0, kFfn, kHidden);
    add_norm(prefix + "post_ffw_norm.weight", kHidden);
  }

  void add_norm(const std::string& name, uint32_t width) {
    place(name, GgufType::kF32, {width});
    for (uint32_t i = 0; i < width; ++i) {
      put(data, 0.5f + static_cast<float>(random() % 1024) / 1024.0f);
    }
  }

  void
  add_matrix(const std::string& name, GgufType type, uint32_t k, uint32_t n) {
    place(name, type, {k, n});
    for (uint32_t i = 0; i < n * k; ++i) {
      const float value =
          (static_cast<float>(random() % 2048) / 1024.0f - 1.0f) / 4.0f;
      if (type == GgufType::kF32) {
        put(data, value);
      } else if (type == GgufType::kBF16) {
        put(data, f32_to_bf16(value));
      } else {
        if (i % 32 == 0) {
          put(data, f32_to_f16(1.0f / 512.0f)); // of the block's scale
        }
        put(data, static_cast<int8_t>(random() % 255 - 127));
      }
    }
  }

  void place(const std::string& name, GgufType type, std::vector<uint64_t> ne) {
    image.add_tensor(name, type, std::move(ne));
    data.resize(image.tensors.back().offset);
  }
};

/// A file in a folder of this process alone (tests run side by side), removed
/// with it.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes)
      : path_(
            std::filesystem::temp_directory_path() /
            ("holdfast_" + std::to_string(getpid())) / name) {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() {
    std::error_code ignored; // the folder may hold another file still
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(path_.parent_path(), ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const {
    return path_.string();
  }

 private:
  const std::filesystem::path path_;
};

} // namespace holdfast::test
