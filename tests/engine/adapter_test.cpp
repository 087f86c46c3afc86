// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Adapters that are not what they should be, each refused in one line; whose
// state theirs is.

#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/adapter_folder.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using Json = nlohmann::json;
using test::AdapterFolder;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Tensors = AdapterFolder::Tensors;

constexpr const char* kQ = "model.layers.0.self_attn.q_proj";
// The small llama's.
constexpr int kHidden = 64;
constexpr int kRank = 4;

mx::array values(const mx::Shape& shape) {
  return mx::full(shape, 0.25f, mx::float32);
}

/// An adapter of one matrix of the small llama; a test changes it.
struct Parts {
  bool peft = true;
  Json config;
  Tensors tensors;

  static Parts of_peft() {
    Parts parts;
    parts.config = AdapterFolder::peft_config(kRank, 2.0, {"q_proj"});
    const std::string module = std::string("base_model.model.") + kQ;
    parts.tensors = {
        {module + ".lora_A.weight", values({kRank, kHidden})},
        {module + ".lora_B.weight", values({kHidden, kRank})}};
    return parts;
  }
  static Parts of_mlx() {
    Parts parts;
    parts.peft = false;
    parts.config = {
        {"fine_tune_type", "lora"},
        {"num_layers", 2},
        {"learning_rate", 1e-5},
        {"lora_parameters",
         {{"rank", kRank},
          {"scale", 2.0},
          {"dropout", 0.0},
          {"keys", {"self_attn.q_proj"}}}}};
    parts.tensors = {
        {std::string(kQ) + ".lora_a", values({kHidden, kRank})},
        {std::string(kQ) + ".lora_b", values({kRank, kHidden})}};
    return parts;
  }
  const char* file() const {
    return peft ? "adapter_model.safetensors" : "adapters.safetensors";
  }
  /// Puts a tensor in another one's place.
  void rename(const std::string& from, const std::string& to) {
    tensors.insert_or_assign(to, tensors.at(from));
    tensors.erase(from);
  }
  std::string down() const {
    return peft ? std::string("base_model.model.") + kQ + ".lora_A.weight"
                : std::string(kQ) + ".lora_a";
  }
  std::string up() const {
    return peft ? std::string("base_model.model.") + kQ + ".lora_B.weight"
                : std::string(kQ) + ".lora_b";
  }
};

class AdapterFiles : public testing::Test {
 protected:
  AdapterFiles()
      : folder_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
  }

  void write(const Parts& parts) const {
    // A former one may have been of the other layout.
    for (const char* file :
         {"adapter_model.safetensors", "adapters.safetensors"}) {
      std::filesystem::remove(folder_.path() + "/" + file);
    }
    folder_.write("adapter_config.json", parts.config.dump());
    folder_.save(parts.file(), parts.tensors);
  }
  void load(const std::string& family = "llama") const {
    const Runtime runtime{std::make_shared<Executor>(1), KernelPath::kPlain};
    test::make_chosen_model(
        FolderWeights(test::model_folder(family), runtime.executor),
        {.adapter = folder_.path()},
        runtime);
  }
  /// The line that refuses it.
  std::string refusal(const std::string& family = "llama") const {
    try {
      load(family);
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_THAT(text, HasSubstr(folder_.path()));
      EXPECT_THAT(text, HasSubstr("expected "));
      EXPECT_THAT(text, HasSubstr(", got "));
      EXPECT_THAT(text, Not(HasSubstr("\n")));
      return text;
    }
    return "it was accepted";
  }
  std::string refusal_of(const Parts& parts) const {
    write(parts);
    return refusal();
  }

  const AdapterFolder folder_;
};

TEST_F(AdapterFiles, AreAcceptedInBothLayouts) {
  for (const Parts& parts : {Parts::of_peft(), Parts::of_mlx()}) {
    const AdapterFolder folder("both");
    folder.write("adapter_config.json", parts.config.dump());
    folder.save(parts.file(), parts.tensors);
    const Adapter adapter(folder.path());
    ASSERT_EQ(adapter.parts().size(), 1u);
    const auto& [module, part] = *adapter.parts().begin();
    EXPECT_EQ(module, "layers.0.self_attn.q_proj");
    EXPECT_EQ(part.change.rank, kRank);
    EXPECT_EQ(part.change.scale, 2.0f);
  }
}

TEST_F(AdapterFiles, AreRefusedForSettingsThatMeanMoreThanLowRank) {
  const std::vector<std::pair<const char*, Json>> cases{
      {"peft_type", "ADALORA"},
      {"use_dora", true},
      {"bias", "all"},
      {"lora_bias", true},
      {"modules_to_save", Json::array({"lm_head"})},
      {"init_lora_weights", "pissa"},
      {"init_lora_weights", "olora"},
      {"trainable_token_indices", Json::array({1, 2})},
      {"layer_replication", Json::array({Json::array({0, 1})})},
      {"target_parameters", Json::array({"experts.down_proj"})},
      {"use_qalora", true},
      {"megatron_config", {{"x", 1}}},
      {"a_field_of_tomorrow", "on"},
      {"a_field_of_tomorrow", 0.5},
      {"rank_pattern", {{".*q_proj|k", 4}}},
      {"rank_pattern", 4}};
  for (const auto& [name, value] : cases) {
    Parts parts = Parts::of_peft();
    parts.config[name] = value;
    EXPECT_THAT(
        refusal_of(parts),
        AllOf(HasSubstr("/adapter_config.json: "), HasSubstr(name)));
  }
  for (const auto& [name, value] : std::vector<std::pair<const char*, Json>>{
           {"fine_tune_type", "dora"}, {"fine_tune_type", "full"}}) {
    Parts parts = Parts::of_mlx();
    parts.config[name] = value;
    EXPECT_THAT(refusal_of(parts), HasSubstr("fine_tune_type: expected lora"));
  }
  Parts parts = Parts::of_mlx();
  parts.config["lora_parameters"]["twist"] = 1;
  EXPECT_THAT(refusal_of(parts), HasSubstr("lora_parameters.twist"));
}

TEST_F(AdapterFiles, AreRefusedForSettingsThatAreAbsentOrWrong) {
  for (const char* name : {"r", "lora_alpha"}) {
    Parts parts = Parts::of_peft();
    parts.config.erase(name);
    EXPECT_THAT(refusal_of(parts), HasSubstr(std::string(name) + ": expected"));
    parts.config[name] = "four";
    EXPECT_THAT(refusal_of(parts), HasSubstr(std::string(name) + ": expected"));
  }
  Parts parts = Parts::of_peft();
  parts.config["r"] = 0;
  EXPECT_THAT(refusal_of(parts), HasSubstr("r: expected a rank of at least 1"));
  for (const char* name : {"rank", "scale"}) {
    parts = Parts::of_mlx();
    parts.config["lora_parameters"].erase(name);
    EXPECT_THAT(
        refusal_of(parts),
        HasSubstr(std::string("lora_parameters.") + name + ": expected"));
  }
  parts = Parts::of_mlx();
  parts.config.erase("num_layers");
  EXPECT_THAT(refusal_of(parts), HasSubstr("num_layers: expected a number"));
  parts = Parts::of_mlx();
  parts.config["lora_parameters"]["scale"] = 1e39;
  EXPECT_THAT(refusal_of(parts), HasSubstr("lora_parameters.scale: expected"));
  parts.config = Json{{"r", 4}};
  EXPECT_THAT(refusal_of(parts), EndsWith("got neither"));
  parts.config = Parts::of_peft().config;
  parts.config["fine_tune_type"] = "lora";
  EXPECT_THAT(refusal_of(parts), EndsWith("got both"));
  folder_.write("adapter_config.json", "[1]");
  EXPECT_THAT(refusal(), HasSubstr("expected a JSON object"));
}

TEST_F(AdapterFiles, AreRefusedForTensorsThatAreNoneOfLowRank) {
  const std::string module = std::string("base_model.model.") + kQ;
  for (const std::string& name :
       {module + ".lora_magnitude_vector",
        module + ".lora_A.default.weight",
        module + ".lora_B.bias",
        std::string("base_model.model.lm_head.weight"),
        std::string("base_model.model.model.embed_tokens.lora_embedding_A"),
        std::string(kQ) + ".lora_A.weight"}) {
    Parts parts = Parts::of_peft();
    parts.tensors.insert_or_assign(name, values({kRank, kHidden}));
    EXPECT_THAT(
        refusal_of(parts),
        AllOf(
            HasSubstr("/adapter_model.safetensors: tensor " + name),
            HasSubstr("expected base_model.model.MODULE")));
  }
  Parts parts = Parts::of_mlx();
  parts.tensors.insert_or_assign(std::string(kQ) + ".m", values({kHidden}));
  EXPECT_THAT(
      refusal_of(parts),
      HasSubstr(
          "/adapters.safetensors: tensor " + std::string(kQ) + ".m: expected"));
}

TEST_F(AdapterFiles, AreRefusedForShapesTypesAndNumbers) {
  for (const auto& make : {&Parts::of_peft, &Parts::of_mlx}) {
    const Parts whole = make();
    for (const std::string& name : {whole.down(), whole.up()}) {
      const auto refused = [&](const mx::array& array) {
        Parts parts = make();
        parts.tensors.insert_or_assign(name, array);
        const std::string line = refusal_of(parts);
        EXPECT_THAT(line, HasSubstr(std::string("/") + whole.file()));
        EXPECT_THAT(line, HasSubstr("tensor " + name));
        return line;
      };
      const mx::Shape shape = whole.tensors.at(name).shape();
      EXPECT_THAT(
          refused(values({shape[1], shape[0]})), HasSubstr("expected shape"));
      EXPECT_THAT(refused(values({shape[0] + 1, shape[1]})), HasSubstr("rank"));
      EXPECT_THAT(
          refused(values({2, shape[0], shape[1]})),
          HasSubstr("expected a matrix"));
      EXPECT_THAT(
          refused(mx::astype(values(shape), mx::int32)),
          HasSubstr("expected BF16, F16 or F32"));
      EXPECT_THAT(
          refused(mx::full(
              shape, std::numeric_limits<float>::quiet_NaN(), mx::float32)),
          HasSubstr("expected finite numbers"));
    }
  }
}

TEST_F(AdapterFiles, AreRefusedForHalvesThatMissAndTwins) {
  for (const auto& make : {&Parts::of_peft, &Parts::of_mlx}) {
    Parts parts = make();
    parts.tensors.erase(parts.up());
    EXPECT_THAT(refusal_of(parts), EndsWith("beside it, got none"));
    parts = make();
    parts.tensors.erase(parts.down());
    EXPECT_THAT(refusal_of(parts), EndsWith("beside it, got none"));
    parts.tensors.clear();
    parts.tensors.insert_or_assign("x", values({1}));
    EXPECT_THAT(refusal_of(parts), HasSubstr("tensor x: expected"));
  }
  Parts parts = Parts::of_mlx();
  parts.config["lora_parameters"].erase("keys");
  for (const char* kind : {".lora_a", ".lora_b"}) {
    parts.tensors.insert_or_assign(
        std::string("layers.0.self_attn.q_proj") + kind,
        parts.tensors.at(std::string(kQ) + kind));
  }
  EXPECT_THAT(refusal_of(parts), HasSubstr("expected each matrix once"));
}

TEST_F(AdapterFiles, AreRefusedForFilesThatMissOrStandBeside) {
  EXPECT_THAT(
      [&] { load(); },
      testing::ThrowsMessage<Error>(HasSubstr("adapter_config.json")));
  folder_.write("adapter_config.json", Parts::of_peft().config.dump());
  EXPECT_THAT(
      [&] { load(); },
      testing::ThrowsMessage<Error>(HasSubstr("adapter_model.safetensors")));
  write(Parts::of_peft());
  load();
  folder_.save("adapters.safetensors", Parts::of_mlx().tensors);
  EXPECT_THAT(refusal(), HasSubstr("adapters.safetensors beside it"));
}

TEST_F(AdapterFiles, AreRefusedForModulesThatTheModelDoesNotChange) {
  for (const char* module :
       {"model.layers.9.self_attn.q_proj",
        "model.layers.0.self_attn.x_proj",
        "model.embed_tokens",
        "model.layers.0.input_layernorm"}) {
    Parts parts = Parts::of_peft();
    parts.config.erase("target_modules");
    parts.rename(
        parts.down(),
        std::string("base_model.model.") + module + ".lora_A.weight");
    parts.rename(
        parts.up(),
        std::string("base_model.model.") + module + ".lora_B.weight");
    EXPECT_THAT(refusal_of(parts), HasSubstr("family \"llama\" has"));
  }
  // Experts one by one.
  Parts parts = Parts::of_peft();
  const std::string expert =
      "base_model.model.model.layers.0.mlp.experts.1.gate_proj.";
  parts.config.erase("target_modules");
  parts.rename(parts.down(), expert + "lora_A.weight");
  parts.rename(parts.up(), expert + "lora_B.weight");
  write(parts);
  EXPECT_THAT(refusal("qwen3_moe"), HasSubstr("no experts"));
}

TEST_F(AdapterFiles, AreRefusedForModulesThatTheirSettingsDoNotName) {
  Parts parts = Parts::of_peft();
  parts.config["target_modules"] = Json::array({"k_proj"});
  EXPECT_THAT(refusal_of(parts), HasSubstr("target_modules: expected"));
  parts.config["target_modules"] = ".*q_proj"; // a pattern
  write(parts);
  load();
  parts = Parts::of_mlx();
  parts.config["lora_parameters"]["keys"] = Json::array({"q_proj"});
  EXPECT_THAT(refusal_of(parts), HasSubstr("lora_parameters.keys: expected"));
  parts = Parts::of_mlx();
  parts.config["num_layers"] = 1; // the last of two
  EXPECT_THAT(refusal_of(parts), HasSubstr("num_layers: expected at least 2"));
  for (const int all : {-1, 0, 5}) {
    parts.config["num_layers"] = all;
    write(parts);
    load();
  }
}

TEST(AdapterDigests, FollowEveryByteOfBothFilesAndNothingElse) {
  const Parts parts = Parts::of_peft();
  const AdapterFolder one("digest-1"), two("digest-2");
  const auto write = [](const AdapterFolder& folder, const Parts& of) {
    folder.write("adapter_config.json", of.config.dump());
    folder.save(of.file(), of.tensors);
  };
  write(one, parts);
  write(two, parts);
  const std::string digest = Adapter(one.path()).digest();
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_EQ(Adapter(two.path()).digest(), digest);
  two.write("README.md", "what it was trained on");
  EXPECT_EQ(Adapter(two.path()).digest(), digest);
  Parts other = parts;
  other.config["lora_alpha"] = 7;
  write(two, other);
  EXPECT_NE(Adapter(two.path()).digest(), digest);
  other = parts;
  other.tensors.insert_or_assign(
      other.up(), mx::full({kHidden, kRank}, 0.5f, mx::float32));
  write(two, other);
  EXPECT_NE(Adapter(two.path()).digest(), digest);
}

} // namespace
} // namespace holdfast
