// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/json_lines.h"
#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST(CommandLine, SaysItsVersionAndHelpsWithExamples) {
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("holdfast [0-9.]+\n"));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{
           {},
           {"generate"},
           {"tokenize"},
           {"inspect"},
           {"eval"},
           {"state"},
           {"bench"},
           {"bench", "model"},
           {"bench", "kernels"},
           {"bench", "attend"}}) {
    auto arguments = command;
    arguments.push_back("--help");
    const Outcome help = run(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_THAT(help.out, HasSubstr("holdfast "));
    EXPECT_EQ(help.err, "");
  }
}

TEST(CommandLine, CallsAUsersMistakeOneInOneLineWithCodeTwo) {
  const std::string m = model_path();
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"unheard-of"},
      {"generate"},
      {"generate", "-m", m, "-p"},
      {"generate", "-m", m, "-p", "a", "--unheard-of"},
      {"generate", "-m", "/no/such/model.gguf", "-p", "a"},
      {"generate", "-m", m, "-f", "/no/such/prompt.txt"},
      {"generate", "-m", m, "-f", "/"},
      {"generate", "-m", m, "-p", "a", "-n", "0"},
      {"generate", "-m", m, "-p", "a", "-n", "-5"},
      {"generate", "-m", m, "-p", "a", "-n", "12x"},
      {"generate", "-m", m, "-p", "a", "-n", "99999999999999999999"},
      {"generate", "-m", m, "-p", "a", "--temp", "-1"},
      {"generate", "-m", m, "-p", "a", "--temp", "nan"},
      {"generate", "-m", m, "-p", "a", "--temp", "warm"},
      {"generate", "-m", m, "-p", "a", "--top-k", "-1"},
      {"generate", "-m", m, "-p", "a", "--top-p", "0"},
      {"generate", "-m", m, "-p", "a", "--min-p", "2"},
      {"generate", "-m", m, "-p", "a", "--repeat-penalty", "0"},
      {"generate", "-m", m, "-p", "a", "--repeat-penalty", "1e-40"},
      {"generate", "-m", m, "-p", "a", "--seed", "-1"},
      {"generate", "-m", m, "-p", "a", "--stop", ""},
      {"generate", "-m", m, "-p", "a", "--stop", "\xff"},
      {"generate", "-m", m, "-p", "a", "--chunk", "0"},
      {"generate", "-m", m, "-p", "a", "--context", "0"},
      {"generate", "-m", m, "-p", "a", "--context", "-2"},
      {"generate", "-m", m, "-p", "a", "--threads", "-1"},
      {"generate", "-m", m, "-p", "a", "--threads", "0"},
      {"generate", "-m", m, "-p", "a", "--threads", "100000"},
      {"generate", "-m", m, "-p", "a", "--kernels", "fast"},
      {"generate", "-m", m, "-p", "a", "--kv", "q17"},
      {"generate", "-m", m, "-p", "a", "--kv", "t4@-1"},
      {"generate", "-m", m, "-p", "a", "--kv-config", "/nowhere.json"},
      {"generate", "-m", m, "-p", "a", "--kv-config", m},
      {"generate", "-m", m, "-p", "a", "--max-state-bytes", "-1"},
      {"generate", "-m", m, "-p", "a", "--logprobs", "3"},
      {"generate", "-m", m, "-p", "a", "--json", "--logprobs", "-3"},
      {"generate", "-m", m, "-p", "a", "--compiled", "--reference"},
      {"generate", "-m", m, "-p", "a", "--daily-bytes", "0"},
      {"generate", "-m", m, "-p", "a", "--max-disk-bytes", "-1"},
      {"state"},
      {"state", "unheard-of"},
      {"state", "show"},
      {"state", "pin"},
      {"state", "why", "-p", "a"},
      {"tokenize", "-p", "a"},
      {"inspect"},
      {"eval", "-m", m},
      {"eval", "-m", m, "-f", m, "--context", "3"},
      {"eval", "-m", m, "-f", "/dev/null"},
      {"eval", "-m", m, "-f", m, "--kv", "q9"},
      {"eval", "-m", m, "-f", m, "--kv", "q8", "--kv", "q9"},
      {"eval", "-m", m, "-f", m, "--kv", "q9", "--kv", "q8"},
      {"eval", "-m", m, "-f", m, "--against", "q9"},
      {"eval", "-m", m, "-f", m, "--against", "bf16"},
      {"eval", "-m", m, "-f", m, "--kv", "q8", "--against", "q8g64/q8"},
      {"eval", "-m", m, "-f", m, "--kv", "q8", "--kv", "bf16"},
      {"bench"},
      {"bench", "model", "-m", m, "--prompt", "0", "--gen", "0"},
      {"bench", "model", "-m", m, "--batch", "0"},
      {"bench", "model", "-m", m, "--compiled", "--reference"},
      {"bench", "model", "-m", m, "--depth", "-1"},
      {"bench", "attend", "--kv", "q9"},
      {"bench", "attend", "--kv", "q8@64"},
      {"bench", "attend", "--kv", "q4", "--dim", "80"},
      {"bench", "attend", "--heads", "8"},
      {"bench", "attend", "--heads", "8:3"},
      {"bench", "attend", "--heads", "8:0"},
      {"bench", "attend", "--heads", "x:1"},
      {"bench", "attend", "--dim", "0"},
      {"bench", "attend", "--rows", "1x"},
      {"bench", "attend", "--rows", "5000"},
      {"bench", "attend", "--positions", "0"},
      {"bench", "attend", "--prefill", "-1"},
      {"bench", "attend", "--time", "0"},
      {"bench", "attend", "--threads", "0"},
  };
  for (const auto& arguments : mistakes) {
    const Outcome outcome = run(arguments);
    const std::string said = testing::PrintToString(arguments);
    EXPECT_EQ(outcome.code, 2) << said << outcome.err;
    EXPECT_TRUE(outcome.one_line_of_error()) << said << outcome.err;
    EXPECT_EQ(outcome.out, "") << said;
  }
}

TEST(CommandLine, NamesADamagedModelFileInOneLineWithCodeOne) {
  const std::string whole = TinyModel().bytes();
  std::string magic = whole;
  magic[0] = 'X';
  for (const std::string& bytes :
       {std::string(),
        magic,
        whole.substr(0, 100),
        whole.substr(0, 5000),
        whole.substr(0, whole.size() - 1)}) {
    const TemporaryFile file("holdfast_damaged.gguf", bytes);
    const Outcome outcome = run({"generate", "-m", file.path(), "-p", "a"});
    EXPECT_EQ(outcome.code, 1) << bytes.size();
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("holdfast_damaged.gguf"));
  }
}

TEST(CommandLine, NamesACommandThatDoesNotExist) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{
           {"unheard-of"}, {"bench", "unheard-of"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("expected a command, got unheard-of"));
  }
}

TEST(CommandLine, NamesTheModelFileWhoseWeightsGiveNoNumbers) {
  TinyModel model;
  for (const GgufImage::Tensor& tensor : model.image.tensors) {
    if (tensor.name == "blk.0.attn_v.weight") {
      const float nan = std::nanf("");
      for (size_t i = 0; i < TinyModel::kHidden; ++i) {
        std::memcpy(
            model.data.data() + tensor.offset + i * sizeof nan,
            &nan,
            sizeof nan);
      }
    }
  }
  const TemporaryFile file(
      "holdfast_" + std::to_string(getpid()) + "_nan.gguf", model.bytes());
  const TemporaryFile text(
      "holdfast_" + std::to_string(getpid()) + "_nan.txt", "the hello");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{
           {"generate", "--state", "none", "-m", file.path(), "-p", "a"},
           {"eval", "-m", file.path(), "-f", text.path(), "--context", "4"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("holdfast: " + file.path() + ": "));
    EXPECT_THAT(outcome.err, HasSubstr("finite logits"));
  }
}

TEST(InspectCommand, LetsNoNameOfAFileMakeALineOrAControlCharacter) {
  TinyModel model;
  for (auto& tensor : model.image.tensors) {
    if (tensor.name == "output_norm.weight") {
      tensor.name = "odd\nfamily\x1b[2J";
    }
  }
  const TemporaryFile file(
      "holdfast_" + std::to_string(getpid()) + "_odd.gguf", model.bytes());
  const Outcome outcome = run({"inspect", file.path(), "--tensors"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("odd?family?[2J"));
}

TEST(TokenizeCommand, PrintsIdsOnALineAndPiecesAsJson) {
  const Outcome line = run({"tokenize", "-m", model_path(), "-p", "hello"});
  EXPECT_EQ(line.code, 0);
  const Outcome json =
      run({"tokenize", "-m", model_path(), "-p", "hello", "--json"});
  const Json object = Json::parse(json.out);
  std::string expected;
  for (const auto& id : object["ids"]) {
    expected += expected.empty() ? "" : " ";
    expected += id.dump();
  }
  EXPECT_EQ(line.out, expected + "\n");
  EXPECT_EQ(object["pieces"], (Json{"<bos>", "hello"}));
}

TEST(TokenizeCommand, ReadsControlTokensOnlyWhereAskedTo) {
  const auto ids = [](std::vector<std::string> more) {
    more.insert(
        more.begin(),
        {"tokenize", "--json", "-m", model_path(), "-p", "<eos>a"});
    return Json::parse(run(more).out)["ids"];
  };
  EXPECT_GT(ids({}).size(), 4u);
  EXPECT_EQ(ids({"--special"}).size(), 3u);
  EXPECT_EQ(ids({"--special", "--no-bos"}).at(0), 1);
}

TEST(InspectCommand, DescribesAFile) {
  const Outcome outcome = run({"inspect", model_path(), "--tensors"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part :
       {"gemma3",
        "tiny",
        "Q8_0",
        "BF16",
        "blk.5.ffn_down.weight",
        "<bos>",
        "bytes a token as bf16"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

/// `holdfast eval` of a short text in windows of 32 tokens.
Outcome eval_text(const std::vector<std::string>& rest) {
  const std::string path = scratch("text");
  std::ofstream(path) << std::string(300, 'a') + " the hello";
  std::vector<std::string> arguments{"-f", path, "--context", "32"};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  Outcome outcome = run(with_model({"eval"}, arguments));
  std::filesystem::remove(path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome;
}

TEST(EvalCommand, PrintsThePerplexityAsJson) {
  for (const std::vector<std::string>& kv :
       {std::vector<std::string>{}, {"--kv", "bf16"}}) {
    std::vector<std::string> arguments = {"--json"};
    arguments.insert(arguments.end(), kv.begin(), kv.end());
    const Json json = Json::parse(eval_text(arguments).out);
    EXPECT_EQ(json.size(), 6u);
    EXPECT_GE(json["windows"], 9);
    EXPECT_EQ(json["tokens"], json["windows"].get<int>() * 15);
    EXPECT_NEAR(
        json["ppl"].get<double>(), std::exp(json["nll"].get<double>()), 1e-3);
    EXPECT_EQ(json["kv"], "bf16");
    EXPECT_GT(json["bytes_per_token"], 0);
  }
}

TEST(EvalCommand, ComparesEachPrecisionWithTheReference) {
  const Outcome outcome =
      eval_text({"--kv", "q8g32", "--kv", "t2", "--against", "f32", "--json"});
  const std::vector<Json> found = json_lines(outcome.out);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["kv"], "q8g32");
  EXPECT_EQ(found[1]["kv"], "t2");
  for (const Json& json : found) {
    EXPECT_EQ(json.size(), 9u);
    EXPECT_EQ(json["against"]["kv"], "f32");
    EXPECT_LT(json["bytes_per_token"], json["against"]["bytes_per_token"]);
    EXPECT_LE(json["kl"]["mean"], json["kl"]["p999"]);
    EXPECT_LE(json["kl"]["p999"], json["kl"]["max"]);
    EXPECT_GE(json["top1"], 0);
    EXPECT_LE(json["top1"], 1);
  }
  EXPECT_LT(found[0]["kl"]["mean"], found[1]["kl"]["mean"]);
}

TEST(EvalCommand, PrintsATableOfThePrecisionsThatItCompares) {
  const std::string out =
      eval_text({"--kv", "q8g32", "--kv", "t2/q4g32@16"}).out;
  for (const std::string part :
       {"divergence from bf16", "\nbf16 ", "\nq8g32 ", "\nt2/q4g32@16 "}) {
    EXPECT_THAT(out, HasSubstr(part));
  }
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 5);
}

TEST(BenchCommand, MeasuresAModel) {
  const Outcome outcome = run(with_model(
      {"bench", "model"},
      {"--prompt",
       "40",
       "--gen",
       "3",
       "--depth",
       "20",
       "--batch",
       "2",
       "--repeat",
       "2",
       "--chunk",
       "16",
       "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_GT(json["prefill_tok_s"], 0.0);
  EXPECT_GT(json["decode_tok_s"], 0.0);
  EXPECT_EQ(json["batch"], 2);
  EXPECT_EQ(json["compiled"], false);
}

TEST(BenchCommand, MeasuresCompiledSteps) {
  const Outcome outcome = run(with_model(
      {"bench", "model"},
      {"--prompt", "0", "--gen", "3", "--compiled", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_GT(json["decode_tok_s"], 0.0);
  EXPECT_EQ(json["compiled"], true);
}

} // namespace
} // namespace holdfast::test
