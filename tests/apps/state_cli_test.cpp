// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state`: what is kept is listed, shown, pinned, pruned and
// forgotten.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/tier_folder.h"
#include "tests/apps/kept_folder.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The folder's tier, by another process than theirs.
std::unique_ptr<DiskTier> tier_of(const Folder& folder) {
  return DiskTier::open({.folder = folder.path() + "/tier",
                         .files = posix_file_system(),
                         .clock = system_clock()})
      .value();
}

TEST(StateCommand, ListsWhatGenerateKept) {
  const Folder folder("list");
  const Json first = folder.generate(kLong);
  folder.generate("the");
  const auto records = folder.json({"ls"});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["space"], "text");
  EXPECT_EQ(records[1]["line"].get<std::string>().substr(0, 9), "hello the");
  EXPECT_EQ(
      records[1]["tokens"],
      first["prompt_ids"].size() + first["ids"].size() - 1);
  EXPECT_EQ(records[1]["model"], fs::path(model_path()).filename().string());
  EXPECT_EQ(records[1]["pinned"], false);
  EXPECT_GT(records[1]["bytes"], 0);
  EXPECT_EQ(records[1]["name"].get<std::string>().size(), 16u);
  EXPECT_EQ(records[1]["short"].get<std::string>().size(), 8u);
  const Outcome text = folder.state({"ls"});
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 3);
  EXPECT_THAT(text.out, HasSubstr("NAME"));
  EXPECT_TRUE(folder.json({"ls", "--space", "chat"}).empty());
}

// Whoever goes on with a text finds one entry, not two.
TEST(StateCommand, AGrowingTextIsOneEntry) {
  const Folder folder("grow");
  const Json first = folder.generate(kLong, 2);
  const Json second = folder.generate(kLong, 6);
  EXPECT_EQ(second["ids"][0], first["ids"][0]);
  const auto records = folder.json({"ls"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["tokens"], second["prompt_ids"].size() + 5);
}

TEST(StateCommand, ShowsIdsAndTheTextThatAModelReads) {
  const Folder folder("show");
  const Json made = folder.generate("hello the", 3);
  const auto name = folder.json({"ls"}).at(0)["name"].get<std::string>();
  const Json shown =
      folder.json({"show", name.substr(0, 5), "-m", model_path()}).at(0);
  std::vector<int> ids = made["prompt_ids"];
  const std::vector<int> chosen = made["ids"];
  ids.insert(ids.end(), chosen.begin(), chosen.end() - 1);
  EXPECT_EQ(shown["ids"], ids);
  EXPECT_EQ(shown["text"].get<std::string>().substr(0, 9), "hello the");
  EXPECT_EQ(shown["parts"].size(), 3u);
  EXPECT_TRUE(shown["scope"].contains("model file"));
  const Outcome plain = folder.state({"show", "text/" + name});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.out, HasSubstr(" " + std::to_string(ids[1])));
}

TEST(StateCommand, RefusesNamesOfNoneAndOfSeveral) {
  const Folder folder("names");
  folder.generate("hello");
  folder.generate("the hello");
  for (const char* verb : {"show", "pin", "forget"}) {
    const Outcome none = folder.state({verb, "no-such-name"});
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(none.one_line_of_error()) << none.err;
    const Outcome several = folder.state({verb, "text/"});
    EXPECT_EQ(several.code, 2);
    EXPECT_TRUE(several.one_line_of_error()) << several.err;
    for (const Json& record : folder.json({"ls"})) {
      EXPECT_THAT(several.err, HasSubstr(record["name"].get<std::string>()));
    }
  }
  EXPECT_EQ(folder.json({"ls"}).size(), 2u);
}

TEST(StateCommand, WithoutAFolderSaysSoAndMakesNone) {
  const Folder folder("missing");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"ls"},
           {"show", "a"},
           {"stats"},
           {"verify"},
           {"prune"},
           {"pin", "a"},
           {"unpin", "a"},
           {"forget", "--all"},
           {"flush"},
           {"why", "-m", model_path(), "-p", "a"}}) {
    const Outcome outcome = folder.state(words);
    EXPECT_EQ(outcome.code, 2) << words[0];
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(folder.path()));
  }
  EXPECT_FALSE(fs::exists(folder.path()));
}

TEST(StateCommand, EveryVerbHasExamples) {
  const Outcome all = run({"state", "--help"});
  for (const char* verb :
       {"ls",
        "show",
        "stats",
        "why",
        "pin",
        "unpin",
        "export",
        "import",
        "forget",
        "prune",
        "verify",
        "flush"}) {
    EXPECT_THAT(all.out, HasSubstr(std::string("  ") + verb));
    const Outcome help = run({"state", verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr(std::string("holdfast state ") + verb));
    EXPECT_THAT(help.out, HasSubstr("--json"));
  }
}

TEST(StateCommand, CountsWhatIsThereAndWhatWasWritten) {
  const Folder folder("stats");
  folder.generate(kLong);
  const Json stats = folder.json({"stats"}).at(0);
  EXPECT_EQ(stats["records"], 1);
  EXPECT_EQ(stats["tokens"], folder.json({"ls"}).at(0)["tokens"]);
  EXPECT_GE(stats["used"], stats["live"]);
  EXPECT_GT(stats["budget"], 0);
  EXPECT_GE(stats["written_total"], stats["written_today"]);
  EXPECT_GT(stats["written_today"], 0);
  EXPECT_DOUBLE_EQ(
      stats["written_per_token"].get<double>(),
      stats["written_total"].get<double>() /
          stats["tokens_total"].get<double>());
  EXPECT_THAT(folder.state({"stats"}).out, HasSubstr("written a token stored"));
}

TEST(StateCommand, VerifyFindsADamagedByteOnceAndExitsWithOne) {
  const Folder folder("verify");
  folder.generate(kLong);
  EXPECT_EQ(folder.json({"verify"}).at(0)["faults"].size(), 0u);
  for (const auto& entry : fs::directory_iterator(folder.path() + "/tier")) {
    if (entry.path().extension() == ".segment") {
      std::fstream file(
          entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      constexpr int kPlace = 4096 + 17; // in the first image
      file.seekg(kPlace);
      const int byte = file.get();
      file.seekp(kPlace);
      file.put(static_cast<char>(byte ^ 0x10));
    }
  }
  const Outcome damaged = folder.state({"verify", "--json"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_EQ(Folder::objects(damaged.out).at(0)["faults"].size(), 1u);
  // It is dropped, and computed again.
  EXPECT_EQ(folder.state({"verify"}).code, 0);
  EXPECT_EQ(folder.generate(kLong)["reused_tokens"], 0);
}

TEST(StateCommand, PrunesToSoManyBytesAndKeepsWhatIsPinned) {
  const Folder folder("prune");
  folder.generate(kLong);
  const auto pinned = folder.json({"ls"}).at(0)["name"].get<std::string>();
  EXPECT_EQ(folder.json({"pin", pinned.substr(0, 6)}).at(0)["pinned"], true);
  folder.generate("the hello " + kLong);
  ASSERT_EQ(folder.json({"ls"}).size(), 2u);
  const Outcome all = folder.state({"prune", "--to", "0", "--json"});
  EXPECT_EQ(all.code, 1); // what is pinned is left
  EXPECT_GT(Folder::objects(all.out).at(0)["freed"], 0);
  const auto left = folder.json({"ls"});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["name"], pinned);
  EXPECT_EQ(folder.state({"forget", pinned}).code, 2);
  EXPECT_EQ(folder.json({"unpin", pinned}).at(0)["pinned"], false);
  EXPECT_EQ(folder.json({"ls"}).at(0)["pinned"], false);
  EXPECT_EQ(
      folder.json({"prune", "--to", "1000000000"}).at(0)["records"].size(), 0u);
}

TEST(StateCommand, ForgetsOneTextAndLeavesWhatOthersShare) {
  const Folder folder("forget");
  folder.generate(kLong + " hello", 70);
  const Json kept = folder.generate(kLong + " the", 70);
  const auto records = folder.json({"ls"});
  ASSERT_EQ(records.size(), 2u);
  const Json gone = folder.json({"forget", records[1]["name"]}).at(0);
  EXPECT_EQ(gone["clean"], true);
  EXPECT_EQ(gone["found"], 0);
  EXPECT_GT(gone["runs"], 2);
  EXPECT_GT(gone["files"], 2);
  EXPECT_GT(gone["bytes"], 0);
  EXPECT_GT(gone["freed"], 0);
  ASSERT_EQ(folder.json({"ls"}).size(), 1u);
  const Json again = folder.generate(kLong + " the", 70);
  EXPECT_EQ(
      again["reused_tokens"].get<int>(), again["prompt_tokens"].get<int>() - 1);
  EXPECT_EQ(again["ids"], kept["ids"]);
}

// One byte of a text's body rots: the text still has its name, and goes whole.
TEST(StateCommand, ForgetsATextWhoseBodyIsDamaged) {
  const Folder folder("rotten");
  folder.generate(kLong, 70);
  const auto name = folder.json({"ls"}).at(0)["name"].get<std::string>();
  damage_body(folder.path(), {"text", name});
  EXPECT_EQ(folder.state({"verify"}).code, 1);
  ASSERT_EQ(folder.json({"ls"}).size(), 1u);
  EXPECT_EQ(folder.json({"ls"}).at(0)["name"], name);
  const Json gone = folder.json({"forget", name}).at(0);
  EXPECT_EQ(gone["clean"], true) << gone.dump();
  EXPECT_GT(gone["runs"], 2);
  EXPECT_GT(gone["nodes"], 0);
  EXPECT_EQ(folder.json({"stats"}).at(0)["nodes"], 0);
  EXPECT_TRUE(folder.json({"ls"}).empty());
}

TEST(StateCommand, ForgetsEverything) {
  const Folder folder("all");
  folder.generate(kLong);
  folder.generate("the hello");
  const Json gone = folder.json({"forget", "--all"}).at(0);
  EXPECT_EQ(gone["clean"], true);
  EXPECT_EQ(gone["records"].size(), 2u);
  const Json stats = folder.json({"stats"}).at(0);
  EXPECT_EQ(stats["records"], 0);
  EXPECT_EQ(stats["nodes"], 0);
  EXPECT_EQ(stats["live"], 0);
  EXPECT_EQ(folder.generate(kLong)["reused_tokens"], 0);
}

// A proof that could not fail would be none: a copy is found.
TEST(StateCommand, ForgetFindsACopyThatIsLeftInTheFolder) {
  const Folder folder("copy");
  folder.generate(kLong);
  fs::copy_file(folder.path() + "/tier/manifest.db", folder.path() + "/backup");
  const auto name = folder.json({"ls"}).at(0)["name"].get<std::string>();
  const Outcome outcome = folder.state({"forget", name, "--json"});
  EXPECT_EQ(outcome.code, 1);
  const Json gone = Folder::objects(outcome.out).at(0);
  EXPECT_EQ(gone["clean"], false);
  EXPECT_GT(gone["found"], 0);
  EXPECT_EQ(gone["found_in"], Json::array({folder.path() + "/backup"}));
  EXPECT_THAT(outcome.err, HasSubstr("backup"));
}

TEST(StateCommand, ForgetSaysWhatAnotherProcessHasMapped) {
  const Folder folder("mapped");
  folder.generate(kLong);
  const auto name = folder.json({"ls"}).at(0)["name"].get<std::string>();
  {
    const auto tier = tier_of(folder);
    const Extent body = tier->record({"text", name}).value().body;
    const MappedImage mapped = tier->map(body).value();
    const Outcome outcome = folder.state({"forget", name, "--json"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(Folder::objects(outcome.out).at(0)["clean"], false);
    EXPECT_THAT(outcome.err, HasSubstr("another process"));
  }
  EXPECT_EQ(folder.state({"prune"}).code, 0);
  EXPECT_EQ(folder.json({"forget", "--all"}).at(0)["clean"], true);
}

TEST(StateCommand, SaysWhyAPromptIsNotKnownFurther) {
  const Folder folder("why");
  folder.generate(kLong);
  const auto why = [&](std::vector<std::string> rest) {
    std::vector<std::string> words{"why", "-m", model_path(), "--threads", "1"};
    words.insert(words.end(), rest.begin(), rest.end());
    return folder.json(words).at(0);
  };
  const Json known = why({"-p", kLong});
  EXPECT_EQ(
      known["reused_tokens"].get<int>(), known["prompt_tokens"].get<int>() - 1);
  EXPECT_EQ(known["reused_from_disk"], known["reused_tokens"]);
  const Json other = why({"-p", kLong, "--kv", "q8"});
  EXPECT_EQ(other["reused_tokens"], 0);
  EXPECT_THAT(other["reuse"].get<std::string>(), HasSubstr("storage"));
  // It kept nothing itself.
  EXPECT_EQ(folder.json({"ls"}).size(), 1u);
}

TEST(StateCommand, FlushSaysThatNothingIsPending) {
  const Folder folder("flush");
  folder.generate(kLong);
  const Json flushed = folder.json({"flush"}).at(0);
  EXPECT_EQ(flushed["pending"], 0);
  // A store of a process that died is no store under way.
  std::ofstream(folder.path() + "/tier/open/0123456789abcdef-1.unfinished")
      << "x";
  EXPECT_EQ(folder.json({"flush"}).at(0)["pending"], 0);
  EXPECT_EQ(folder.state({"flush", "--wait", "-1"}).code, 2);
}

TEST(StateCommand, FlushEndsWithOneWhileAStoreOfAProcessIsNotThrough) {
  const Folder folder("under_way");
  folder.generate(kLong);
  TierFolder other(posix_file_system(), folder.path() + "/tier");
  other.enter(); // a process that lives
  const std::string store = other.unfinished_path(other.next_segment());
  posix_file_system()->create(store).value();
  const Outcome waited = folder.state({"flush", "--wait", "0.1", "--json"});
  EXPECT_EQ(waited.code, 1);
  EXPECT_EQ(Folder::objects(waited.out).at(0)["pending"], 1);
  EXPECT_THAT(waited.err, HasSubstr("under way"));
  posix_file_system()->remove(store).check();
  EXPECT_EQ(folder.json({"flush"}).at(0)["pending"], 0);
}

} // namespace
} // namespace holdfast::test
