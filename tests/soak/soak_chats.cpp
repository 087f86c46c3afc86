// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/soak/soak_chats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <thread>
#include <vector>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/conversation_reader.h"

namespace holdfast::test {

namespace {

constexpr int kChats = 4; // of each client
constexpr int64_t kMostTokens = 320;
constexpr int kObjects = 64;
constexpr int64_t kObjectBytes = 100000; // mapped when it is read back

/// 5 blocks of 7 layers x 2 heads x 64 positions x 64 x keys and values, bf16,
/// for every chat, and the objects.
int64_t data_bytes(int clients) {
  constexpr int64_t kBlock = int64_t{7} * 2 * 64 * 64 * 2 * 2;
  return clients * kChats * (kMostTokens / kBlockTokens) * kBlock +
      kObjects * kObjectBytes;
}

ObjectKey object_name(int number) {
  return {"soak", std::to_string(number)};
}

std::vector<std::byte> object_value(int number) {
  std::mt19937 random(static_cast<uint32_t>(number));
  std::vector<std::byte> bytes(kObjectBytes);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

/// None where it finds no room.
OpenObject made(ObjectCache& cache, int number) {
  try {
    OpenObject object = cache.open(Bytes(kObjectBytes));
    std::ranges::copy(object_value(number), object.bytes().begin());
    return object;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget) << error.what();
    return {};
  }
}

void add_words(std::vector<int32_t>& tokens, std::mt19937& random) {
  const int64_t words = 3 + static_cast<int64_t>(random() % 30);
  for (int64_t i = 0; i < words; ++i) {
    tokens.push_back(static_cast<int32_t>(random() % 300));
  }
}

} // namespace

SoakChats::SoakChats(SoakChoice choice, std::string folder)
    : choice_(choice), folder_(std::move(folder)) {}

SoakChats::~SoakChats() {
  objects_.reset();
  engine_.set_disk(nullptr, nullptr);
}

void SoakChats::open() {
  const int64_t data = data_bytes(choice_.clients);
  ram_ = std::make_shared<SharedRam>(Bytes(data / 10));
  disk_ = DiskTier::open({.folder = folder_,
                          .max_bytes = Bytes(data / 2),
                          .files = posix_file_system(),
                          .clock = system_clock()})
              .value();
  engine_.set_disk(disk_, ram_);
  objects_ = std::make_unique<ObjectCache>(
      ObjectCacheOptions{.shared_ram = ram_, .disk = disk_});
}

void SoakChats::use_objects(std::mt19937& random) {
  const int numbers[] = {
      static_cast<int>(random() % kObjects),
      static_cast<int>(random() % kObjects)};
  const ObjectKey keys[] = {object_name(numbers[0]), object_name(numbers[1])};
  const auto found =
      objects_->get_or_make(keys, [&](std::span<const size_t> missing) {
        std::vector<MadeObject> result;
        for (const size_t i : missing) {
          result.push_back({made(*objects_, numbers[i]), 1000000});
        }
        return result;
      });
  for (size_t i = 0; i < 2; ++i) {
    if (found[i]) {
      ++count_.objects;
      count_.wrong_objects +=
          !std::ranges::equal(found[i]->bytes(), object_value(numbers[i]));
    }
  }
  if (random() % 40 == 0) {
    std::ignore = objects_->remove(keys[0]);
  }
}

void SoakChats::write_file(
    PrefixCache& cache,
    const std::vector<int32_t>& chat,
    uint32_t number) {
  const std::string path = folder_ + "-talk" + std::to_string(number);
  const auto exported =
      cache.export_prefix({chat}, {posix_file_system(), path});
  if (!exported.ok()) { // nothing of it is known any more
    count_.wrong_kept += exported.status().code() != ErrorCode::kNotFound;
    return;
  }
  const auto file = ConversationReader::open(*posix_file_system(), path);
  count_.wrong_kept += !file.ok() || !file.value()->verify().ok() ||
      !std::ranges::equal(
          file.value()->content().tokens(),
          std::span(chat).first(
              static_cast<size_t>(exported.value().tokens.get())));
  std::ignore = posix_file_system()->remove(path);
  ++count_.kept;
}

void SoakChats::put_record(
    PrefixCache& cache,
    const std::vector<int32_t>& chat,
    const NamedRecord& record) {
  try {
    count_.kept += cache.put({chat}, record);
  } catch (const Error& error) {
    count_.wrong_kept += error.code() != ErrorCode::kOutOfBudget;
    return;
  }
  const auto known = cache.record(record.name);
  count_.wrong_kept += !known.ok() || known.value().body != record.body ||
      known.value().tokens != chat;
}

void SoakChats::keep(
    const std::vector<int32_t>& chat,
    uint32_t number,
    std::mt19937& random) {
  const std::string key = std::to_string(number);
  const RecordName name{"soak", key};
  const auto what = random() % 4;
  if (what == 0) {
    const auto removed = disk_->forget(name);
    count_.wrong_kept += !removed.ok();
    count_.forgotten += removed.ok() && !removed.value().records.empty();
    return;
  }
  engine_.run([&](State&, PrefixCache* cache) {
    RecordBody body;
    body.set("soak", {.version = 1, .bytes = key});
    if (what == 1) {
      put_record(*cache, chat, {.name = name, .body = body});
    } else if (what == 2) {
      auto attempt = cache->continuations()->begin(key);
      count_.wrong_kept += !attempt.ok();
      if (attempt.ok()) {
        attempt.value().checkpoint(
            {.content = cache->checkpoint(std::span(&chat, 1), body),
             .tokens = Position(std::ssize(chat)),
             .generated = Position(0)});
        ++count_.kept;
        if (random() % 2 == 0) {
          attempt.value().complete();
        }
      }
    } else {
      write_file(*cache, chat, number);
    }
  });
}

void SoakChats::client(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int32_t>> chats(kChats);
  while (!stop_) {
    const size_t number = random() % kChats;
    std::vector<int32_t>& chat = chats[number];
    if (std::ssize(chat) > kMostTokens - 50 || random() % 50 == 0) {
      chat.clear();
    } else if (random() % 12 == 0) { // goes on where another one was
      chat = chats[random() % kChats];
      chat.resize(chat.size() - chat.size() / 3);
    }
    add_words(chat, random);
    const SoakRequest request{
        .tokens = chat,
        .more = 1 + static_cast<int64_t>(random() % 8),
        .compare = random() % 10 == 0};
    const SoakAnswer answer = engine_.answer(request);
    chat.insert(chat.end(), answer.tokens.begin(), answer.tokens.end());
    ++count_.answers;
    count_.compared += request.compare;
    count_.differing += !answer.same;
    count_.asked_tokens += std::ssize(request.tokens);
    count_.reused_tokens += answer.reused;
    use_objects(random);
    if (random() % 8 == 0) {
      keep(chat, seed, random);
    }
  }
}

void SoakChats::check_sums() {
  engine_.run([&](State& state, PrefixCache* cache) {
    const FlushReport report = cache->flush();
    EXPECT_EQ(report.failed, 0) << report.text() << ": " << report.failure;
    EXPECT_EQ(report.pending_writes, 0);
    cache->check(); // recomputes every sum of the index
    const TreeStats stats = cache->stats();
    const Bytes counted =
        stats.image_bytes + stats.index_bytes + objects_->stats().bytes;
    EXPECT_LE(counted, ram_->limit());
    EXPECT_LE(counted, ram_->used()); // what waits for the disk, beside
    EXPECT_LE(ram_->used(), ram_->limit());
    EXPECT_TRUE(state.rows().empty());
    // Own images; what was restored lies in mapped files.
    EXPECT_LE(state.bytes(), stats.image_bytes);
  });
  const FlushReport report = objects_->flush();
  EXPECT_EQ(report.failed, 0) << report.text() << ": " << report.failure;
  EXPECT_EQ(objects_->stats().bytes, objects_->stats().kept);
  EXPECT_LE(objects_->stats().bytes, objects_->stats().budget); // its part
  const auto verified = disk_->verify();
  ASSERT_TRUE(verified.ok()) << verified.status().text();
  EXPECT_TRUE(verified.value().faults.empty()) << verified.value().faults[0];
  const auto stats = disk_->stats();
  ASSERT_TRUE(stats.ok()) << stats.status().text();
  EXPECT_LE(stats.value().used, stats.value().max_bytes);
}

void SoakChats::close() {
  check_sums();
  objects_.reset();
  engine_.set_disk(nullptr, nullptr);
  engine_.run(
      [&](State& state, PrefixCache*) { EXPECT_EQ(state.bytes(), Bytes(0)); });
  const auto stats = disk_->stats();
  EXPECT_EQ(stats.ok() ? stats.value().leases : -1, 0);
  disk_.reset();
}

void SoakChats::play() {
  ProcessWatch before;
  for (int64_t round = 0; round < choice_.rounds; ++round) {
    open();
    stop_ = false;
    {
      std::vector<std::jthread> clients;
      for (int i = 0; i < choice_.clients; ++i) {
        const auto number =
            static_cast<uint32_t>(round) * 1000 + static_cast<uint32_t>(i);
        clients.emplace_back(
            [this, seed = choice_.seed * 100000 + number] { client(seed); });
      }
      std::this_thread::sleep_for(
          std::chrono::milliseconds(1000 * choice_.seconds / choice_.rounds));
      stop_ = true;
    }
    close();
    const ProcessWatch now = watch_process(folder_);
    std::cout << "round " << round << ": " << count_.answers << " answers, "
              << count_.compared << " compared, " << count_.reused_tokens
              << " of " << count_.asked_tokens << " tokens reused; " << now
              << std::endl;
    EXPECT_EQ(now.of_folder, 0);
    // By half of the time threads, arenas, and the buffers that kernels keep
    // for their next outputs (at most 40 MiB) are there.
    if (round < std::max(choice_.rounds / 2, int64_t{1})) {
      before = now;
      continue;
    }
    EXPECT_EQ(now.descriptors, before.descriptors);
    EXPECT_LE(now.mappings, before.mappings + 16);
    EXPECT_LE(now.heap_bytes, before.heap_bytes + (int64_t{16} << 20));
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

} // namespace holdfast::test
