// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Models in folders, as the program meets them.

#include <filesystem>
#include <fstream>
#include <string>
#include <unordered_map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "tests/apps/json_lines.h"
#include "tests/apps/program.h"
#include "tests/formats/tokenizer_json_support.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;
using Json = nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

/// A random llama of one layer with a tokenizer of bytes.
class ModelFolder : public testing::Test {
 protected:
  ModelFolder() : root_(scratch("folders")), path_(root_ + "/model") {
    fs::create_directories(path_);
    write("config.json", config_.dump());
    write("tokenizer.json", small_tokenizer_json().dump());
    write_weights(7);
  }
  ~ModelFolder() override {
    fs::remove_all(root_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
  }
  void write_weights(uint64_t seed, int rows = 258) const {
    mx::random::seed(seed);
    std::unordered_map<std::string, mx::array> tensors;
    const std::string layer = "model.layers.0.";
    for (const auto& [name, shape] :
         std::vector<std::pair<std::string, mx::Shape>>{
             {"model.embed_tokens", {rows, 64}},
             {"model.norm", {64}},
             {layer + "input_layernorm", {64}},
             {layer + "post_attention_layernorm", {64}},
             {layer + "self_attn.q_proj", {64, 64}},
             {layer + "self_attn.k_proj", {32, 64}},
             {layer + "self_attn.v_proj", {32, 64}},
             {layer + "self_attn.o_proj", {64, 64}},
             {layer + "mlp.gate_proj", {64, 64}},
             {layer + "mlp.up_proj", {64, 64}},
             {layer + "mlp.down_proj", {64, 64}}}) {
      tensors.insert_or_assign(
          name + ".weight",
          mx::random::normal(shape, mx::bfloat16, 0.0f, 0.3f));
    }
    mx::save_safetensors(path_ + "/model.safetensors", tensors);
  }
  /// A LoRA adapter of some of its matrices, as PEFT writes it; `size`: of what
  /// it adds.
  std::string write_adapter(uint64_t seed, float size) const {
    const std::string folder = root_ + "/adapter";
    fs::create_directories(folder);
    mx::random::seed(seed);
    std::unordered_map<std::string, mx::array> tensors;
    for (const auto& [name, rows] :
         {std::pair("self_attn.q_proj", 64),
          std::pair("self_attn.v_proj", 32),
          std::pair("mlp.up_proj", 64)}) {
      const std::string module =
          std::string("base_model.model.model.layers.0.").append(name);
      tensors.insert_or_assign(
          module + ".lora_A.weight",
          mx::random::normal({2, 64}, mx::bfloat16, 0.0f, 0.3f));
      tensors.insert_or_assign(
          module + ".lora_B.weight",
          mx::random::normal({rows, 2}, mx::bfloat16, 0.0f, size));
    }
    mx::save_safetensors(folder + "/adapter_model.safetensors", tensors);
    std::ofstream(folder + "/adapter_config.json") << Json{
        {"peft_type", "LORA"},
        {"r", 2},
        {"lora_alpha", 4},
        {"target_modules", {"q_proj", "v_proj", "up_proj"}}};
    return folder;
  }
  /// `generate` without kept state, unless `rest` names some.
  Outcome generate(
      const std::string& model,
      std::vector<std::string> rest = {"--state", "none"}) const {
    rest.insert(
        rest.begin(),
        {"generate",
         "-m",
         model,
         "-p",
         "abab ab abba",
         "-n",
         "12",
         "--json",
         "--threads",
         "1"});
    return run(rest);
  }
  static Json result(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = json_lines(outcome.out);
    return lines.empty() ? Json::object() : lines[0];
  }
  /// The line of a refusal.
  std::string refused() const {
    const Outcome outcome = generate(path_);
    EXPECT_GT(outcome.code, 0);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    return outcome.err;
  }

  const std::string root_;
  const std::string path_;
  Json config_{
      {"model_type", "llama"},
      {"hidden_size", 64},
      {"intermediate_size", 64},
      {"num_hidden_layers", 1},
      {"num_attention_heads", 2},
      {"num_key_value_heads", 1},
      {"head_dim", 32},
      {"vocab_size", 258},
      {"rms_norm_eps", 1e-5},
      {"rope_theta", 10000.0},
      {"max_position_embeddings", 512},
      {"tie_word_embeddings", true}};
};

TEST_F(ModelFolder, ShowsTheTextOfIdsAndRefusesWordsThatAreNone) {
  const auto decode = [&](const std::string& words) {
    return run({"tokenize", "-m", path_, "--decode", "-p", words});
  };
  EXPECT_EQ(decode(" 97 256\n98 ").out, "aabb\n");
  for (const char* words :
       {"97 b", "97 98b", "97 -", "97 9999999999", "97 1.5"}) {
    const Outcome outcome = decode(words);
    EXPECT_EQ(outcome.code, 2) << words << ": " << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("--decode: expected ids")) << words;
  }
}

// Published tables are padded to a round size; gemma3's has a row less than its
// tokenizer pieces.
TEST_F(ModelFolder, GeneratesWhereItsTableIsNotAsLargeAsItsTokenizer) {
  for (const int rows : {320, 257}) {
    Json config = config_;
    config["vocab_size"] = rows;
    write("config.json", config.dump());
    write_weights(7, rows);
    const Json json = result(generate(path_));
    ASSERT_EQ(json["ids"].size(), 12u) << rows;
    for (const int id : json["ids"]) {
      EXPECT_LT(id, std::min(rows, 258));
    }
  }
}

TEST_F(ModelFolder, GeneratesAndIsInspectedAsAFileIs) {
  const Json json = result(generate(path_));
  EXPECT_GT(json["ids"].size(), 0u);
  const Outcome inspected = run({"inspect", path_, "--tensors"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_THAT(
      inspected.out,
      AllOf(
          HasSubstr("family      llama"),
          HasSubstr("safetensors"),
          HasSubstr("model.layers.0.mlp.up_proj.weight  BF16  64 x 64")));
  const Outcome slash = generate(path_ + "/");
  EXPECT_EQ(result(slash)["prompt_ids"], json["prompt_ids"]);
}

TEST_F(ModelFolder, IsPackedIntoOneThatGenerates) {
  const std::string out = root_ + "/packed";
  const Outcome packed =
      run({"pack", path_, out, "--bits", "8", "--group", "32", "--json"});
  const Json report = result(packed);
  EXPECT_EQ(report["quantized"], 8);
  EXPECT_EQ(report["tensors"], 11);
  const Json json = result(generate(out, {"--state", "none", "--temp", "0"}));
  EXPECT_EQ(json["prompt_ids"], result(generate(path_))["prompt_ids"]);
  const Outcome again = run({"pack", path_, out});
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(again.one_line_of_error()) << again.err;
  EXPECT_THAT(again.err, HasSubstr(out));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{
           {"--bits", "7"}, {"--bits", "16"}, {"--group", "48"}}) {
    const Outcome refused = run({"pack", path_, root_ + "/x", name, value});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr(name + ": expected"));
  }
}

TEST_F(ModelFolder, SaysHowItIsSampledUnlessTheCommandLineDoes) {
  const auto ids = [&](const std::vector<std::string>& rest) {
    return result(generate(path_, rest))["ids"];
  };
  write("generation_config.json", R"({"do_sample": false, "top_k": 64})");
  const Json first = ids({"--state", "none", "--seed", "1"});
  EXPECT_EQ(first, ids({"--state", "none", "--seed", "2"}));
  EXPECT_EQ(first, ids({"--state", "none", "--temp", "0"}));
  EXPECT_NE(
      ids({"--state", "none", "--seed", "1", "--temp", "5", "--top-k", "0"}),
      ids({"--state", "none", "--seed", "2", "--temp", "5", "--top-k", "0"}));
  for (const auto& [text, field] :
       std::vector<std::pair<std::string, std::string>>{
           {R"({"top_p": "x"})", "top_p"},
           {R"({"top_p": 2})", "top-p"},
           {R"({"temperature": -1})", "temperature"},
           {R"({"do_sample": 1})", "do_sample"},
           {"[]", "JSON object"}}) {
    write("generation_config.json", text);
    EXPECT_THAT(
        refused(),
        AllOf(HasSubstr("generation_config.json"), HasSubstr(field)));
  }
}

TEST_F(ModelFolder, KeepsStateUntilAFileThatDecidesBitsChanges) {
  const std::vector<std::string> rest{
      "--state", root_ + "/state", "--seed", "1"};
  EXPECT_EQ(result(generate(path_, rest))["reused_tokens"], 0);
  EXPECT_GT(result(generate(path_, rest))["reused_tokens"], 0);
  write("generation_config.json", "{}");
  write("README.md", "decides nothing");
  EXPECT_GT(result(generate(path_, rest))["reused_tokens"], 0);
  write_weights(8);
  EXPECT_EQ(result(generate(path_, rest))["reused_tokens"], 0);
  config_["rope_theta"] = 20000.0;
  write("config.json", config_.dump());
  EXPECT_EQ(result(generate(path_, rest))["reused_tokens"], 0);
}

TEST_F(ModelFolder, WritesOtherTextUnderAnAdapterThatLeavesItAsItIs) {
  const std::vector<std::string> greedy{"--state", "none", "--temp", "0"};
  const auto under = [&](const std::string& adapter) {
    auto rest = greedy;
    rest.insert(rest.end(), {"--adapter", adapter});
    return result(generate(path_, rest))["ids"];
  };
  const std::string before = read_file(path_ + "/model.safetensors");
  const Json base = result(generate(path_, greedy))["ids"];
  EXPECT_NE(under(write_adapter(1, 0.5f)), base);
  // One that was not trained adds zeros.
  EXPECT_EQ(under(write_adapter(1, 0.0f)), base);
  EXPECT_EQ(read_file(path_ + "/model.safetensors"), before);
  EXPECT_EQ(result(generate(path_, greedy))["ids"], base);
  const std::string adapter = write_adapter(1, 0.5f);
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"bench", "model", "--prompt", "8", "--gen", "2"},
           {"eval", "-f", path_ + "/config.json", "--context", "64"}}) {
    auto line = command;
    line.insert(line.end(), {"-m", path_, "--adapter", adapter});
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

TEST_F(ModelFolder, KeepsTheStateOfEachAdapterForItselfAndSaysWhose) {
  const std::string state = root_ + "/state";
  const auto reused = [&](const std::vector<std::string>& adapter) {
    std::vector<std::string> rest{"--state", state, "--seed", "1"};
    rest.insert(rest.end(), adapter.begin(), adapter.end());
    return result(generate(path_, rest))["reused_tokens"].get<int>();
  };
  const std::string folder = write_adapter(1, 0.5f);
  const std::vector<std::string> adapted{"--adapter", folder};
  EXPECT_EQ(reused({}), 0);
  EXPECT_EQ(reused(adapted), 0);
  EXPECT_GT(reused(adapted), 0);
  EXPECT_GT(reused({}), 0);
  // The same folder, other content: another scale, then other tensors.
  std::ofstream(folder + "/adapter_config.json")
      << R"({"peft_type": "LORA", "r": 2, "lora_alpha": 5})";
  EXPECT_EQ(reused(adapted), 0);
  write_adapter(2, 0.5f);
  EXPECT_EQ(reused(adapted), 0);
  write_adapter(1, 0.5f);
  EXPECT_GT(reused(adapted), 0);
  write_adapter(3, 0.5f);
  const Outcome why = run(
      {"state",
       "why",
       "-m",
       path_,
       "-p",
       "abab ab abba",
       "--state",
       state,
       "--adapter",
       folder});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_THAT(
      why.out,
      AllOf(
          HasSubstr("reused 0 of"),
          HasSubstr("another signature, adapter: expected ")));
}

TEST_F(ModelFolder, IsRefusedWithAnAdapterThatDoesNotFit) {
  const auto refused = [&](const std::string& adapter) {
    const Outcome outcome =
        generate(path_, {"--state", "none", "--adapter", adapter});
    EXPECT_GT(outcome.code, 0);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    return outcome.err;
  };
  const std::string folder = write_adapter(1, 0.5f);
  std::ofstream(folder + "/adapter_config.json")
      << R"({"peft_type": "LORA", "r": 3, "lora_alpha": 5})";
  EXPECT_THAT(
      refused(folder),
      AllOf(
          HasSubstr(folder + "/adapter_model.safetensors: tensor "),
          AnyOf(
              AllOf(
                  HasSubstr("expected shape [3, 64]"),
                  HasSubstr("got [2, 64]")),
              AllOf(
                  HasSubstr("expected shape [64, 3]"),
                  HasSubstr("got [64, 2]")))));
  EXPECT_THAT(refused(path_), HasSubstr("adapter_config.json"));
  EXPECT_THAT(refused(root_ + "/none"), HasSubstr(root_ + "/none"));
}

TEST_F(ModelFolder, IsRefusedInALineThatNamesFileAndField) {
  const auto with = [&](const std::string& name, const Json& value) {
    Json config = config_;
    config[name] = value;
    write("config.json", config.dump());
    return refused();
  };
  EXPECT_THAT(with("model_type", "newest"), HasSubstr("newest"));
  EXPECT_THAT(
      with("hidden_size", "64"),
      AllOf(HasSubstr("config.json"), HasSubstr("hidden_size: expected")));
  EXPECT_THAT(with("vocab_size", nullptr), HasSubstr("vocab_size: expected"));
  EXPECT_THAT(
      with("intermediate_size", 128),
      AllOf(HasSubstr("model.safetensors"), HasSubstr("mlp.")));
  write("config.json", "{");
  EXPECT_THAT(refused(), HasSubstr("config.json: expected JSON"));
  write("config.json", config_.dump());
  const auto size = fs::file_size(path_ + "/model.safetensors");
  for (const uintmax_t cut :
       {size - 1, size / 2, uintmax_t{100}, uintmax_t{3}, uintmax_t{0}}) {
    fs::resize_file(path_ + "/model.safetensors", cut);
    EXPECT_THAT(refused(), HasSubstr("model.safetensors")) << cut;
    write_weights(7);
  }
  write(
      "model.safetensors.index.json",
      R"({"weight_map": {"model.norm.weight": "model-00001-of-00002.safetensors"}})");
  EXPECT_THAT(refused(), HasSubstr("model-00001-of-00002.safetensors"));
  write(
      "model.safetensors.index.json",
      R"({"weight_map": {"model.norm.weight": "../model.safetensors"}})");
  EXPECT_THAT(refused(), HasSubstr("within the folder"));
  fs::remove(path_ + "/model.safetensors.index.json");
  fs::remove(path_ + "/tokenizer.json");
  EXPECT_THAT(refused(), HasSubstr("tokenizer.json"));
  fs::remove(path_ + "/config.json");
  EXPECT_THAT(refused(), HasSubstr("config.json"));
}

} // namespace
} // namespace holdfast::test
