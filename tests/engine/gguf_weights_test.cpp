// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/engine/load.h"
#include "tests/engine/tiny_model.h"

namespace holdfast {
namespace {

using test::GgufImage;
using test::TinyModel;
using testing::HasSubstr;

struct Parsed {
  std::string bytes;
  GgufFile file;
  std::shared_ptr<Executor> executor = std::make_shared<Executor>(1);

  explicit Parsed(const TinyModel& model)
      : bytes(model.bytes()),
        file(GgufFile::parse(
                 {reinterpret_cast<const std::byte*>(bytes.data()),
                  bytes.size()},
                 "tiny.gguf")
                 .value()) {}
  GgufWeights weights() const {
    return GgufWeights(file, executor);
  }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The tiny model without the keys that contain `part`, and with `add` applied.
TinyModel changed(
    const std::string& part,
    const std::function<void(GgufImage&)>& add = nullptr) {
  TinyModel model;
  std::erase_if(model.image.keys, [&](const std::string& key) {
    return key.find(part) != std::string::npos;
  });
  if (add) {
    add(model.image);
  }
  return model;
}

TEST(GgufWeights, ReadsTheConfigurationAndLeavesAbsentFieldsZero) {
  const Parsed parsed{TinyModel()};
  const GgufWeights weights = parsed.weights();
  const ModelConfig& config = weights.config();
  EXPECT_EQ(config.family, "gemma3");
  EXPECT_EQ(config.name, "tiny");
  EXPECT_EQ(config.layers, TinyModel::kLayers);
  EXPECT_EQ(config.hidden, TinyModel::kHidden);
  EXPECT_EQ(config.ffn, TinyModel::kFfn);
  EXPECT_EQ(config.query_heads, TinyModel::kQueryHeads);
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.head_dim, TinyModel::kHeadDim);
  EXPECT_EQ(config.vocab, TinyModel().vocab());
  EXPECT_EQ(config.context, TinyModel::kContext);
  EXPECT_EQ(config.window, TinyModel::kWindow);
  EXPECT_FLOAT_EQ(static_cast<float>(config.norm_eps), 1e-6f);
  EXPECT_EQ(config.rope_base, 1e6);
  EXPECT_EQ(config.rope_base_local, 0);
  EXPECT_EQ(config.rope_scale, 0);
}

TEST(GgufWeights, KeepTheFilesValuesInEveryType) {
  const Parsed parsed{TinyModel()};
  const GgufWeights weights = parsed.weights();
  for (const char* name :
       {"token_embd.weight", // Q8_0
        "blk.0.attn_k.weight", // BF16
        "blk.0.attn_v.weight"}) { // F32
    const GgufTensor* tensor = parsed.file.tensor(name);
    const int64_t k = tensor->ne[0];
    const cpu::Weight weight = weights.matrix(name, tensor->ne[1], k);
    std::vector<float> got(static_cast<size_t>(k));
    std::vector<float> expected(static_cast<size_t>(k));
    for (const int64_t row : {int64_t{0}, int64_t{5}, tensor->ne[1] - 1}) {
      weight.read_row(row, got.data());
      read_values(
          tensor->type,
          parsed.file.data(*tensor).data() + row * tensor->row_bytes(),
          k,
          expected.data());
      EXPECT_EQ(got, expected) << name << " " << row;
    }
  }
  EXPECT_EQ(
      weights.vector("output_norm.weight", TinyModel::kHidden).size(),
      TinyModel::kHidden);
}

TEST(GgufWeights, NameFileTensorAndShapeWhereATensorDoesNotFit) {
  const Parsed parsed{TinyModel()};
  const GgufWeights weights = parsed.weights();
  EXPECT_TRUE(weights.has("token_embd.weight"));
  EXPECT_FALSE(weights.has("output.weight"));
  EXPECT_THAT(
      error_of([&] { weights.matrix("output.weight", 3, 64); }),
      testing::AllOf(
          HasSubstr("tiny.gguf"),
          HasSubstr("output.weight"),
          HasSubstr("[64, 3]"),
          HasSubstr("no such tensor")));
  EXPECT_THAT(
      error_of([&] { weights.matrix("blk.0.attn_q.weight", 64, 64); }),
      testing::AllOf(HasSubstr("[64, 64]"), HasSubstr("got [64, 128]")));
  EXPECT_THAT(
      error_of([&] { weights.vector("output_norm.weight", 65); }),
      testing::AllOf(HasSubstr("[65]"), HasSubstr("got [64]")));
}

TEST(GgufWeights, RefuseAbsentKeysOnlyWhenATensorIsAskedFor) {
  for (const char* key :
       {"block_count",
        "embedding_length",
        "feed_forward_length",
        "head_count",
        "context_length",
        "layer_norm_rms_epsilon"}) {
    const Parsed parsed{changed(key)};
    const GgufWeights weights = parsed.weights();
    EXPECT_THAT(
        error_of([&] { weights.vector("output_norm.weight", 64); }),
        testing::AllOf(HasSubstr("tiny.gguf"), HasSubstr(key)));
  }
}

TEST(GgufWeights, RefuseKeysOutOfRangeOrOfAnotherType) {
  for (const char* key :
       {"block_count", "embedding_length", "context_length", "key_length"}) {
    const std::string whole = std::string("gemma3.") +
        (key == std::string("key_length") ? "attention." : "") + key;
    const auto with = [&](auto add) {
      const Parsed parsed{changed(key, add)};
      return error_of([&] { parsed.weights(); });
    };
    EXPECT_THAT(
        with([&](GgufImage& image) {
          image.add<int32_t>(whole, GgufValue::kI32, -4);
        }),
        testing::AllOf(HasSubstr(whole), HasSubstr("-4")));
    EXPECT_THAT(
        with([&](GgufImage& image) {
          image.add<uint64_t>(whole, GgufValue::kU64, uint64_t{1} << 62);
        }),
        HasSubstr(whole));
    EXPECT_THAT(
        with([&](GgufImage& image) { image.add_text(whole, "many"); }),
        HasSubstr(whole));
  }
  const Parsed scaled{changed("unheard-of", [](GgufImage& image) {
    image.add_text("gemma3.rope.scaling.type", "yarn");
  })};
  EXPECT_THAT(
      error_of([&] { scaled.weights(); }),
      testing::AllOf(HasSubstr("rope.scaling.type"), HasSubstr("yarn")));
}

TEST(GgufWeights, ReadsLinearRopeScaling) {
  const Parsed parsed{changed("unheard-of", [](GgufImage& image) {
    image.add_text("gemma3.rope.scaling.type", "linear");
    image.add<float>("gemma3.rope.scaling.factor", GgufValue::kF32, 8.0f);
  })};
  EXPECT_EQ(parsed.weights().config().rope_scale, 0.125);
  const Parsed untyped{changed("unheard-of", [](GgufImage& image) {
    image.add<float>("gemma3.rope.scaling.factor", GgufValue::kF32, 8.0f);
  })};
  EXPECT_EQ(untyped.weights().config().rope_scale, 0.125);
}

TEST(GgufWeights, ReadsOrRefusesWhatLaterGemmasSay) {
  const Parsed local{changed("unheard-of", [](GgufImage& image) {
    image.add<float>("gemma3.rope.freq_base_swa", GgufValue::kF32, 2e4f);
    image.add<uint32_t>(
        "gemma3.attention.sliding_window_pattern", GgufValue::kU32, 6);
  })};
  EXPECT_EQ(local.weights().config().rope_base_local, 2e4);
  for (const char* key :
       {"attention.sliding_window_pattern", "final_logit_softcapping"}) {
    const std::string whole = std::string("gemma3.") + key;
    const Parsed other{changed("unheard-of", [&](GgufImage& image) {
      if (whole.ends_with("pattern")) {
        image.add<uint32_t>(whole, GgufValue::kU32, 2);
      } else {
        image.add<float>(whole, GgufValue::kF32, 30.0f);
      }
    })};
    EXPECT_THAT(error_of([&] { other.weights(); }), HasSubstr(whole));
  }
}

TEST(Load, RefusesATensorThatTheFamilyDoesNotKnow) {
  const Runtime runtime{std::make_shared<Executor>(1), KernelPath::kPlain};
  for (const char* name :
       {"blk.0.attn_q.bias", "output_norm.bias", "rope_factors_short.weight"}) {
    TinyModel model;
    model.image.add_tensor(name, GgufType::kF32, {64});
    model.data.resize(model.image.data_bytes);
    const test::TemporaryFile file("load_extra.gguf", model.bytes());
    const std::string error =
        error_of([&] { load_model(file.path(), runtime); });
    if (std::string_view(name).starts_with("rope")) {
      EXPECT_EQ(error, "no error"); // of which the long ones are used
    } else {
      EXPECT_THAT(
          error, testing::AllOf(HasSubstr("load_extra.gguf"), HasSubstr(name)));
    }
  }
}

TEST(Load, NamesTheFileWhateverIsWrong) {
  const Runtime runtime{std::make_shared<Executor>(1), KernelPath::kPlain};
  const auto load = [&](const TinyModel& model) {
    const test::TemporaryFile file("load_fault.gguf", model.bytes());
    return error_of([&] { load_model(file.path(), runtime); });
  };
  const auto family = changed("general.architecture", [](GgufImage& image) {
    image.add_text("general.architecture", "unheard-of");
  });
  EXPECT_THAT(
      load(family),
      testing::AllOf(HasSubstr("load_fault.gguf"), HasSubstr("unheard-of")));
  EXPECT_THAT(
      load(changed("general.architecture")),
      testing::AllOf(
          HasSubstr("load_fault.gguf"), HasSubstr("general.architecture")));
  EXPECT_THAT(load(changed("sliding_window")), HasSubstr("load_fault.gguf"));
  EXPECT_THAT(
      load(changed("tokenizer.ggml.scores")),
      HasSubstr("tokenizer.ggml.scores"));
  EXPECT_THAT(
      load(changed(
          "tokenizer.ggml.model",
          [](GgufImage& image) {
            image.add_text("tokenizer.ggml.model", "bert");
          })),
      testing::AllOf(HasSubstr("tokenizer.ggml.model"), HasSubstr("bert")));
  EXPECT_THAT(
      load(changed(
          "eos_token_id",
          [](GgufImage& image) {
            image.add<uint32_t>(
                "tokenizer.ggml.eos_token_id", GgufValue::kU32, 99999);
          })),
      testing::AllOf(HasSubstr("load_fault.gguf"), HasSubstr("99999")));
  EXPECT_THAT(
      error_of([&] { load_model("/no/such/file.gguf", runtime); }),
      HasSubstr("/no/such/file.gguf"));
}

/// The tiny model with `bytes` at the start of a tensor.
TinyModel overwritten(const std::string& tensor, const std::string& bytes) {
  TinyModel model;
  for (const GgufImage::Tensor& entry : model.image.tensors) {
    if (entry.name == tensor) {
      model.data.replace(entry.offset, bytes.size(), bytes);
    }
  }
  return model;
}

TEST(GgufWeights, NamesATensorWhoseNumbersAreNotFinite) {
  const std::string nan_f32("\0\0\xc0\x7f", 4);
  const std::string infinite_f16("\0\x7c", 2);
  const Parsed norm{overwritten("output_norm.weight", nan_f32)};
  EXPECT_THAT(
      error_of([&] {
        norm.weights().vector("output_norm.weight", TinyModel::kHidden);
      }),
      testing::MatchesRegex("tiny.gguf: tensor output_norm.weight at offset "
                            "[0-9]+: expected finite numbers, got .*nan at "
                            "index 0"));
  const Parsed scale{overwritten("blk.0.ffn_up.weight", infinite_f16)};
  EXPECT_THAT(
      error_of([&] {
        scale.weights().matrix(
            "blk.0.ffn_up.weight", TinyModel::kFfn, TinyModel::kHidden);
      }),
      testing::MatchesRegex("tiny.gguf: tensor blk.0.ffn_up.weight at offset "
                            "[0-9]+: .*expected scales.*"));
}

TEST(GgufWeights, RefusesNumbersThatNoFloatHolds) {
  const Parsed parsed{changed("rope.freq_base", [](GgufImage& image) {
    image.add<double>("gemma3.rope.freq_base", GgufValue::kF64, 1e-300);
  })};
  EXPECT_THAT(
      error_of([&] { parsed.weights(); }),
      testing::MatchesRegex("tiny.gguf: gemma3.rope.freq_base at offset "
                            "[0-9]+: expected a number from .*, got 1e-300"));
}

} // namespace
} // namespace holdfast
