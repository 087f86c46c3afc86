// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <filesystem>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

/// Loads a file of these bytes and generates; what is wrong must be an Error
/// that names the file when it is found in loading. Returns whether it loaded.
bool survives(const std::string& bytes) {
  static const Runtime runtime{
      std::make_shared<Executor>(1), best_kernel_path()};
  const test::TemporaryFile file("engine_damaged.gguf", bytes);
  std::optional<LoadedModel> loaded;
  try {
    loaded = load_model(file.path(), runtime);
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("engine_damaged.gguf"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return false;
  }
  try {
    const auto state = make_state(*loaded, {});
    Generator generator{
        *loaded->model,
        loaded->source.tokenizer,
        loaded->source.end_tokens,
        *state,
        runtime};
    GenerateOptions options;
    options.max_tokens = 2;
    generator.run({{4, 5, 6}}, options);
  } catch (const Error&) {
    // Such as logits that are no numbers.
  }
  return true;
}

TEST(LoadDamage, RefusesAFileCutAtEvery4KiB) {
  const std::string whole = test::TinyModel().bytes();
  ASSERT_TRUE(survives(whole));
  for (size_t size = 0; size < whole.size(); size += 4096) {
    EXPECT_FALSE(survives(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(survives(whole.substr(0, whole.size() - 1)));
}

TEST(LoadDamage, LoadsOrRefusesAHeaderWithFlippedBits) {
  const test::TinyModel model;
  const std::string whole = model.bytes();
  const size_t header = model.image.header().size();
  std::mt19937 random(17);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole;
    for (int flips = 0; flips <= round % 3; ++flips) {
      bytes[random() % header] ^= static_cast<char>(1 << random() % 8);
    }
    refused += survives(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 50);
}

TEST(LoadDamage, EscapesTheNameOfATokenizerThatItDoesNotKnow) {
  std::string bytes = test::TinyModel().bytes();
  const size_t at = bytes.find("llama", bytes.find("tokenizer.ggml.model"));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = '\n';
  EXPECT_FALSE(survives(bytes)); // which wants one line
}

TEST(Load, ReadsNothingFromTheFileOnceItIsLoaded) {
  const test::TemporaryFile file(
      "engine_emptied.gguf", test::TinyModel().bytes());
  const LoadedModel loaded = load_model(
      file.path(), {std::make_shared<Executor>(1), best_kernel_path()});
  std::filesystem::resize_file(file.path(), 0); // a mapped page would be gone
  GenerateOptions options;
  options.max_tokens = 20;
  options.ignore_eos = true;
  options.sampling.temperature = 0;
  const auto expected = test::Session().run({"hello the"}, options);
  test::Session session(loaded);
  const auto prompt = loaded.source.tokenizer.encode("hello the");
  EXPECT_EQ(session.generator.run({prompt}, options)[0].text, expected[0].text);
}

TEST(Load, NamesTheKeyOfATokenizerThatItRefuses) {
  test::TinyModel model;
  for (std::string& key : model.image.keys) {
    const size_t at = key.find("tokenizer.ggml.scores");
    if (at != std::string::npos) {
      const uint32_t nan = 0x7fc00000;
      key.replace(key.size() - 4, 4, reinterpret_cast<const char*>(&nan), 4);
    }
  }
  const test::TemporaryFile file("engine_scores.gguf", model.bytes());
  try {
    open_model_file(file.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what())
            .find(
                "engine_scores.gguf: tokenizer.ggml.scores: expected a score"),
        std::string::npos)
        << error.what();
  }
}

} // namespace
} // namespace holdfast
