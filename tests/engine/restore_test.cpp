// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Restored is cold, bit for bit: every registered codec, always and from a
// position on, in every family, through RAM, through a disk, through a file to
// another machine, and for texts that were interrupted. A new codec or family
// joins by itself.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/engine/forward.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/conversation.h"
#include "holdfast/prefix/prefix_cache.h"
#include "tests/models/codec_choices.h"

namespace holdfast::test {
namespace {

constexpr int64_t kLength = 150; // of a text: two blocks and a tail
constexpr int64_t kStart = 80; // where precision changes, within a block

/// A process: a state and what it knows, over a folder or none.
class Process {
 public:
  explicit Process(
      const Choice& choice,
      const std::shared_ptr<MemoryFileSystem>& files = nullptr)
      : Process(model_of(choice.family), options_of(choice, kStart), files) {}
  Process(
      const Model& model,
      const StateOptions& options,
      const std::shared_ptr<MemoryFileSystem>& files)
      : model_(model), state_(options) {
    PrefixCacheOptions with;
    if (files) {
      with.disk = DiskTier::open({.folder = "/state",
                                  .files = files,
                                  .clock = std::make_shared<ManualClock>()})
                      .value();
    }
    cache_ = std::make_unique<PrefixCache>(state_, std::move(with));
  }

  struct Run {
    int64_t reused;
    std::string why;
    std::vector<float> logits; // of what was computed
  };
  /// Computes what is not known of the text, and keeps it.
  Run run(const std::vector<int32_t>& text, int64_t chunk) {
    const Begun begun = cache_->begin({text});
    Run result{begun.reused.get(), begun.why.line(), {}};
    for (int64_t done = result.reused; done < std::ssize(text);) {
      const int64_t count = std::min(
          {chunk, std::ssize(text) - done, state_.max_append(begun.row)});
      const auto part = std::span(text).subspan(
          static_cast<size_t>(done), static_cast<size_t>(count));
      const RowTokens row{begun.row, part, count};
      const Logits logits = run_step(model_, state_, {&row, 1});
      for (int64_t i = 0; i < count; ++i) {
        const auto values = logits.row(i);
        result.logits.insert(result.logits.end(), values.begin(), values.end());
      }
      done += count;
      cache_->grew(
          begun.row, {std::span(text).first(static_cast<size_t>(done))});
    }
    cache_->put(begun.row, {text});
    state_.remove_row(begun.row);
    return result;
  }
  bool flush() {
    return cache_->flush().durable;
  }
  Why why(const std::vector<int32_t>& text) const {
    return cache_->why({text});
  }
  void write_file(
      const std::vector<int32_t>& text,
      const std::shared_ptr<MemoryFileSystem>& to) {
    cache_->export_prefix({text}, {to, "/talk", 0}).value();
  }
  /// Into the disk; a later process knows it.
  void read_file(const std::shared_ptr<MemoryFileSystem>& from) {
    const auto file = ConversationReader::open(*from, "/talk").value();
    import_conversation(
        *cache_->disk(),
        *file,
        Scope(state_.signature()),
        state_.groups(),
        {.name = {"chat", "talk"}})
        .value();
  }

 private:
  const Model& model_;
  State state_;
  std::unique_ptr<PrefixCache> cache_;
};

class Restore : public testing::TestWithParam<Choice> {
 protected:
  /// False where no read or layer takes the codec: then it must say why.
  static bool is_covered() {
    try {
      State state(options_of(GetParam(), kStart));
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find("layer"), std::string::npos);
      return false;
    }
  }
  /// Of texts that agree in their first `fork` tokens.
  static std::vector<int32_t> text(int64_t length, int64_t fork = kLength) {
    const auto vocab =
        static_cast<uint32_t>(model_of(GetParam().family).config().vocab);
    std::mt19937 common(5);
    std::mt19937 own(static_cast<uint32_t>(100 + fork));
    std::vector<int32_t> tokens;
    for (int64_t i = 0; i < length; ++i) {
      auto& random = i < fork ? common : own;
      tokens.push_back(static_cast<int32_t>(random() % vocab));
    }
    return tokens;
  }
  /// What a process that knows nothing computes.
  static std::vector<float> cold(const std::vector<int32_t>& tokens) {
    return Process(GetParam()).run(tokens, 64).logits;
  }
  static void expect_cold(
      const Process::Run& run,
      const std::vector<float>& whole,
      int64_t least) {
    EXPECT_GE(run.reused, least) << run.why;
    EXPECT_TRUE(same_bits(
        run.logits,
        {whole.end() - static_cast<int64_t>(run.logits.size()), whole.end()}))
        << run.why;
  }
  /// Whole blocks of the first `agreed` tokens are known at least, in the
  /// precision of a cold run.
  static int64_t least_known(int64_t agreed) {
    return std::min(agreed, kLength - 1) / kBlockTokens * kBlockTokens;
  }
};

TEST_P(Restore, FromRamIsCold) {
  if (!is_covered()) {
    return;
  }
  Process process(GetParam());
  EXPECT_EQ(process.run(text(kLength), 40).reused, 0);
  for (const int64_t fork : {65L, 128L, 140L, kLength}) {
    SCOPED_TRACE(fork);
    const auto tokens = text(kLength, fork);
    expect_cold(process.run(tokens, 90), cold(tokens), least_known(fork));
  }
}

TEST_P(Restore, FromDiskIsCold) {
  if (!is_covered()) {
    return;
  }
  const auto files = MemoryFileSystem::make();
  {
    Process first(GetParam(), files);
    first.run(text(kLength), 40);
    ASSERT_TRUE(first.flush());
  }
  for (const int64_t fork : {65L, 140L, kLength}) {
    SCOPED_TRACE(fork);
    const auto tokens = text(kLength, fork);
    Process later(GetParam(), files);
    const auto run = later.run(tokens, 90);
    expect_cold(run, cold(tokens), least_known(fork));
    EXPECT_NE(run.why.find("(0 from RAM"), std::string::npos) << run.why;
  }
}

TEST_P(Restore, ThroughAFileIsCold) {
  if (!is_covered()) {
    return;
  }
  const auto sent = MemoryFileSystem::make();
  {
    Process first(GetParam());
    first.run(text(kLength), 90);
    first.write_file(text(kLength), sent);
  }
  const auto files = MemoryFileSystem::make();
  Process(GetParam(), files).read_file(sent);
  const auto tokens = text(kLength + 20);
  Process later(GetParam(), files);
  const auto run = later.run(tokens, 90);
  expect_cold(run, cold(tokens), kLength);
  EXPECT_NE(run.why.find("(0 from RAM"), std::string::npos) << run.why;
}

TEST_P(Restore, OfATextThatWasInterruptedTwiceIsCold) {
  if (!is_covered()) {
    return;
  }
  const auto files = MemoryFileSystem::make();
  const auto whole = cold(text(kLength));
  int64_t before = 0;
  for (const int64_t length : {70L, 115L, kLength}) {
    SCOPED_TRACE(length);
    Process process(GetParam(), files);
    const auto run = process.run(text(length), 33);
    const auto vocab = static_cast<int64_t>(whole.size()) / kLength;
    EXPECT_EQ(run.reused, before) << run.why;
    EXPECT_TRUE(same_bits(
        run.logits,
        {whole.begin() + run.reused * vocab, whole.begin() + length * vocab}));
    ASSERT_TRUE(process.flush());
    before = length;
  }
}

// FAULTS B36: every layer in a precision of its own.
TEST(RestoreLayers, StoredEachInItsOwnPrecisionFromDiskIsCold) {
  const Choice dense{"gemma3", find_codec("bf16").value(), false};
  const Model& model = model_of(dense.family);
  const auto mixed = [&](size_t first) {
    StateOptions options = options_of(dense, kStart);
    const char* names[] = {"q8", "bf16", "t4", "q4g32", "q6", "t3"};
    for (size_t i = 0; i < options.layers.size(); ++i) {
      const Codec* codec = find_codec(names[(first + i) % 6]).value();
      options.precision.layers[static_cast<int64_t>(i)] = always(codec, codec);
    }
    return options;
  };
  std::vector<int32_t> tokens(kLength);
  std::mt19937 random(36);
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(
        random() % static_cast<uint32_t>(model.config().vocab));
  }
  const auto files = MemoryFileSystem::make();
  const auto cold = [&] {
    Process process(model, mixed(0), files);
    auto result = process.run(tokens, 40);
    EXPECT_TRUE(process.flush());
    return result;
  }();
  EXPECT_EQ(cold.reused, 0);
  const auto run = Process(model, mixed(0), files).run(tokens, 90);
  EXPECT_EQ(run.reused, kLength - 1) << run.why;
  EXPECT_TRUE(same_bits(
      run.logits,
      {cold.logits.end() - std::ssize(run.logits), cold.logits.end()}));
  // The same precisions, in other layers.
  const Why other = Process(model, mixed(1), files).why(tokens);
  EXPECT_EQ(other.usable, Position(0));
  EXPECT_NE(other.line().find("storage"), std::string::npos) << other.line();
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Restore,
    testing::ValuesIn(every_choice()),
    name_of);

// A turn of a chat kept in RAM alone, whose next prompt parts where the last
// one ended (as where what the model thought is left out): the prompt is reused
// to its last token, however far the reply went on behind it.
TEST(RestoreOfATurn, ThatPartsAtThePromptsEndReusesThePrompt) {
  for (const char* family : {"gemma3", "gemma4", "qwen35", "latent"}) {
    const Choice choice{family, find_codec("bf16").value(), false};
    const auto vocab = static_cast<int32_t>(model_of(family).config().vocab);
    const auto text = [&](int64_t prompt, int64_t rest, int32_t step) {
      std::vector<int32_t> tokens;
      for (int64_t i = 0; i < prompt + rest; ++i) {
        const int64_t at = i < prompt ? i * 7 : i * step + step;
        tokens.push_back(static_cast<int32_t>(at % vocab));
      }
      return tokens;
    };
    for (const int64_t prompt : {70, 128, 140}) {
      for (const int64_t reply : {10, 200}) {
        SCOPED_TRACE(testing::Message() << family << " " << prompt << reply);
        Process process(choice);
        process.run(text(prompt, reply, 11), 40);
        const auto next = text(prompt, 40, 13);
        const auto run = process.run(next, 40);
        EXPECT_EQ(run.reused, prompt) << run.why;
        const auto cold = Process(choice).run(next, 40).logits;
        EXPECT_TRUE(same_bits(
            run.logits,
            {cold.end() - static_cast<int64_t>(run.logits.size()),
             cold.end()}));
      }
    }
  }
}

// gemma3's heads fit every codec; the small heads of the others the dense ones
// at least.
TEST(RestoreSuite, LeavesNoFamilyWithoutItsCodecs) {
  std::map<std::string, std::set<std::string>> covered;
  std::set<std::string> families;
  for (const Choice& choice : every_choice()) {
    families.insert(choice.family);
    try {
      State state(options_of(choice, kStart));
      covered[choice.family].insert(choice.codec->name());
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(covered.size(), families.size());
  for (const auto& [family, codecs] : covered) {
    for (const Codec* codec : all_codecs()) {
      EXPECT_TRUE(
          codecs.contains(codec->name()) ||
          (family != "gemma3" && codec->form().kind != CodecKind::kDense))
          << family << " " << codec->name();
    }
  }
}

} // namespace
} // namespace holdfast::test
