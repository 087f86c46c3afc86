// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tensors of encoders: given back bit for bit, from RAM and from disk, in
// place, and sharing nothing with the arrays that were put.

#include "holdfast/prefix/encoder_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mlx/ops.h"
#include "mlx/random.h"
#include "mlx/transforms.h"

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/objects/tensor_format.h"
#include "tests/code_of.h"
#include "tests/env/temp_folder.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;

constexpr const char* kEncoder = "weights 0123, config 4567";

EncoderInput input(const std::string& content, std::string parameters = "") {
  return {sha256(content), std::move(parameters)};
}

std::string bits(const mx::array& array) {
  mx::array whole = mx::contiguous(array);
  mx::eval({whole});
  return {whole.data<char>(), whole.nbytes()};
}

void expect_same(const mx::array& got, const mx::array& want) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_EQ(bits(got), bits(want));
}

/// Values of every type.
std::vector<mx::array> of_each_type(const mx::Shape& shape) {
  std::vector<mx::array> result;
  const mx::array values =
      mx::random::uniform(-100.0f, 100.0f, shape, mx::float32);
  for (const mx::Dtype type :
       {mx::bool_,
        mx::uint8,
        mx::uint16,
        mx::uint32,
        mx::uint64,
        mx::int8,
        mx::int16,
        mx::int32,
        mx::int64,
        mx::float16,
        mx::bfloat16,
        mx::float32,
        mx::float64,
        mx::complex64}) {
    result.push_back(mx::astype(mx::abs(values), type));
  }
  return result;
}

struct EncoderRig {
  std::shared_ptr<MemoryFileSystem> files = MemoryFileSystem::make();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();

  ObjectCacheOptions options(int64_t ram = int64_t{16} << 20) const {
    return {
        .ram = Bytes(ram),
        .disk =
            DiskTier::open({.folder = "/state", .files = files, .clock = clock})
                .value(),
        .clock = clock,
        .writers = 0};
  }
};

const std::vector<mx::Shape> kShapes{
    {},
    {1},
    {7},
    {3, 5},
    {2, 0, 4},
    {2, 3, 4, 5},
    {1, 1, 2, 1, 3, 1, 2}};

TEST(EncoderCache, GivesBackEveryTypeAndRankFromRamAndAfterARestart) {
  EncoderRig rig;
  std::vector<mx::array> all;
  for (const mx::Shape& shape : kShapes) {
    for (const mx::array& array : of_each_type(shape)) {
      mx::eval({array});
      all.push_back(array);
    }
  }
  const auto check = [&](EncoderCache& cache) {
    for (size_t i = 0; i < all.size(); ++i) {
      const auto got = cache.get(input(std::to_string(i)));
      ASSERT_TRUE(got) << i;
      expect_same(*got, all[i]);
    }
  };
  {
    ObjectCache objects(rig.options());
    EncoderCache cache(objects, kEncoder);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(cache.put(input(std::to_string(i)), all[i]));
    }
    check(cache);
    EXPECT_TRUE(objects.flush().durable);
  }
  ObjectCache objects(rig.options());
  EncoderCache cache(objects, kEncoder);
  check(cache);
  EXPECT_EQ(objects.stats().from_disk, std::ssize(all));
}

TEST(EncoderCache, KeepsStridedAndLazyArraysAsTheirValues) {
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  const mx::array base = mx::reshape(mx::arange(24, mx::float32), {4, 6});
  const std::vector<mx::array> arrays{
      mx::transpose(base),
      mx::slice(base, {1, 0}, {4, 6}, {2, 3}),
      mx::broadcast_to(mx::arange(3, mx::int32), {5, 3}),
      mx::add(base, base)};
  for (size_t i = 0; i < arrays.size(); ++i) {
    ASSERT_TRUE(cache.put(input(std::to_string(i)), arrays[i]));
    expect_same(*cache.get(input(std::to_string(i))), arrays[i]);
  }
}

TEST(EncoderCache, TheCallersArrayIsNotWhatIsKept) {
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  mx::array mine = mx::contiguous(mx::full({1000}, 1.0f));
  mx::eval({mine});
  ASSERT_TRUE(cache.put(input("a"), mine));
  const std::string before = bits(mine);
  std::fill_n(mine.data<float>(), 1000, 7.0f);
  EXPECT_EQ(bits(*cache.get(input("a"))), before);
  // Nor does a graph over what was given out write into it.
  {
    mx::array sum = *cache.get(input("a")) + 1.0f;
    mx::array root = mx::sqrt(mx::reshape(*cache.get(input("a")), {10, 100}));
    mx::array put = mx::slice_update(
        *cache.get(input("a")), mx::zeros({10}), mx::Shape{0}, mx::Shape{10});
    mx::eval({sum, root, put});
    EXPECT_EQ(sum.data<float>()[0], 2.0f);
  }
  EXPECT_EQ(bits(*cache.get(input("a"))), before);
}

TEST(EncoderCache, ARestoredArrayReadsTheMappedFileInPlace) {
  EncoderRig rig;
  const mx::array features = mx::random::normal({64, 1024});
  {
    ObjectCache objects(rig.options());
    EncoderCache cache(objects, kEncoder);
    ASSERT_TRUE(cache.put(input("a"), features));
    ASSERT_TRUE(objects.flush().durable);
  }
  auto objects = std::make_unique<ObjectCache>(rig.options());
  EncoderCache cache(*objects, kEncoder);
  const auto object = objects->get(cache.key(input("a")));
  mx::array got = *cache.get(input("a"));
  const auto* elements = read_tensor(object->bytes()).value().elements.data();
  EXPECT_EQ(got.data<std::byte>(), elements);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(elements) % kTensorAlignment, 0u);
  EXPECT_EQ(got.buffer_size(), got.nbytes());
  // The array is a lease: it outlives what it came from.
  ASSERT_TRUE(cache.remove(input("a")).ok());
  EXPECT_FALSE(cache.get(input("a")));
  objects.reset();
  expect_same(got, features);
  expect_same(got * 2.0f, features * 2.0f);
}

TEST(EncoderCache, AnArrayOfAFileThatIsCutIsSaidToMeanNothingAndIsMissed) {
  const MappingGuard guard;
  const TempFolder folder;
  const ObjectCacheOptions options{
      .disk = DiskTier::open({.folder = folder / "state",
                              .files = posix_file_system(),
                              .clock = system_clock()})
                  .value(),
      .writers = 0};
  const mx::array features = mx::random::normal({64, 1024});
  {
    ObjectCache objects(options);
    EncoderCache cache(objects, kEncoder);
    ASSERT_TRUE(cache.put(input("a"), features));
    ASSERT_TRUE(objects.flush().durable);
  }
  ObjectCache objects(options);
  EncoderCache cache(objects, kEncoder);
  const std::vector<mx::array> got{*cache.get(input("a")), features};
  expect_same(got[0], features);
  EXPECT_TRUE(EncoderCache::intact(got));
  for (const std::string& name :
       posix_file_system()->list(folder / "state").value()) {
    if (name.ends_with(".segment")) {
      posix_file_system()
          ->open(folder / ("state/" + name), FileSystem::Access::kReadWrite)
          .value()
          ->truncate(Bytes(4096))
          .check();
    }
  }
  mx::eval({got[0] * 2.0f}); // of zeros by now
  EXPECT_FALSE(EncoderCache::intact(got));
  EXPECT_TRUE(EncoderCache::intact(std::span(got).last(1)));
  EXPECT_FALSE(cache.get(input("a")));
}

TEST(EncoderCache, AnArrayInUseIsNotEvicted) {
  ObjectCache objects({.ram = Bytes(10000)});
  EncoderCache cache(objects, kEncoder);
  ASSERT_TRUE(cache.put(input("a"), mx::full({2000}, 1.0f)));
  auto got = cache.get(input("a"));
  EXPECT_FALSE(cache.put(input("b"), mx::full({2000}, 2.0f)));
  EXPECT_TRUE(cache.get(input("a")));
  got.reset();
  EXPECT_TRUE(cache.put(input("b"), mx::full({2000}, 2.0f)));
  EXPECT_FALSE(cache.get(input("a")));
}

TEST(EncoderCache, WhatDecidesTheBitsIsInTheKey) {
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  EncoderCache other(objects, std::string(kEncoder) + "8");
  EncoderCache tenant(objects, kEncoder, "a tenant");
  const mx::array one = mx::array(1.0f);
  ASSERT_TRUE(cache.put(input("a", "size 224"), one));
  EXPECT_TRUE(cache.get(input("a", "size 224")));
  EXPECT_FALSE(cache.get(input("b", "size 224")));
  EXPECT_FALSE(cache.get(input("a", "size 448")));
  EXPECT_FALSE(cache.get(input("a")));
  EXPECT_FALSE(other.get(input("a", "size 224")));
  EXPECT_FALSE(tenant.get(input("a", "size 224")));
  EXPECT_EQ(tenant.key(input("a")).key.find("a tenant"), std::string::npos);
  // A text that moves from one part to the next is another.
  EncoderCache left(objects, "ab");
  EncoderCache right(objects, "a");
  ASSERT_TRUE(left.put(input("x", "c"), one));
  EXPECT_FALSE(right.get(input("x", "bc")));
  EXPECT_EQ(
      code_of([&] { EncoderCache(objects, ""); }), ErrorCode::kInvalidArgument);
}

TEST(EncoderCache, SeveralInputsHitEachByItselfInTheirOrder) {
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  ASSERT_TRUE(cache.put(input("a"), mx::array(1)));
  ASSERT_TRUE(cache.put(input("c"), mx::array(3)));
  const std::vector<EncoderInput> inputs{
      input("c"), input("b"), input("a"), input("c")};
  const auto found = cache.get_many(inputs);
  EXPECT_EQ(mx::array(*found[0]).item<int>(), 3);
  EXPECT_FALSE(found[1]);
  EXPECT_EQ(mx::array(*found[2]).item<int>(), 1);
  std::vector<size_t> encoded;
  const auto encode = [&](std::span<const size_t> missing) {
    encoded.assign(missing.begin(), missing.end());
    return std::vector<mx::array>{mx::array(2)};
  };
  const auto all = cache.get_or_make(inputs, encode);
  const std::vector<int> want{3, 2, 1, 3};
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(mx::array(all[i]).item<int>(), want[i]);
  }
  EXPECT_EQ(encoded, std::vector<size_t>{1});
}

TEST(EncoderCache, WithoutRoomStillGivesWhatWasEncoded) {
  ObjectCache objects({.ram = Bytes(100)});
  EncoderCache cache(objects, kEncoder);
  const std::vector<EncoderInput> inputs{input("a"), input("b"), input("a")};
  int calls = 0;
  for (int round = 0; round < 2; ++round) {
    const auto all =
        cache.get_or_make(inputs, [&](std::span<const size_t> missing) {
          ++calls;
          std::vector<mx::array> features;
          for (const size_t i : missing) {
            features.push_back(mx::full({1000}, static_cast<float>(i)));
          }
          return features;
        });
    expect_same(all[0], mx::full({1000}, 0.0f));
    expect_same(all[1], mx::full({1000}, 1.0f));
    expect_same(all[2], all[0]);
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(objects.stats().bytes, Bytes(0));
}

TEST(EncoderCache, AnEncoderThatFailsLeavesNothing) {
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  const std::vector<EncoderInput> inputs{input("a")};
  const auto fails = [](std::span<const size_t>) -> std::vector<mx::array> {
    throw std::runtime_error("no");
  };
  EXPECT_THROW(cache.get_or_make(inputs, fails), std::runtime_error);
  EXPECT_EQ(
      code_of([&] {
        cache.get_or_make(inputs, [](std::span<const size_t>) {
          return std::vector<mx::array>{};
        });
      }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(objects.stats().objects, 0);
  EXPECT_EQ(objects.stats().bytes, Bytes(0));
}

TEST(EncoderCache, WhatIsNoTensorIsAMissAndIsMadeAgain) {
  EncoderRig rig;
  ObjectCache objects(rig.options());
  EncoderCache cache(objects, kEncoder);
  const auto spoil = [&] {
    OpenObject object = objects.open(Bytes(100));
    std::memset(object.bytes().data(), 1, 100);
    objects.put(cache.key(input("a")), std::move(object));
    ASSERT_TRUE(objects.flush().durable);
  };
  spoil();
  EXPECT_FALSE(cache.get(input("a")));
  EXPECT_EQ(objects.stats().unreadable, 1);
  EXPECT_EQ(objects.stats().objects, 0); // off the disk too
  spoil();
  const std::vector<EncoderInput> inputs{input("a")};
  const auto made = cache.get_or_make(inputs, [](std::span<const size_t>) {
    return std::vector<mx::array>{mx::array(4)};
  });
  EXPECT_EQ(mx::array(made[0]).item<int>(), 4);
  EXPECT_EQ(mx::array(*cache.get(input("a"))).item<int>(), 4);
}

TEST(EncoderCache, AnyThreadMayAskAndOneOfThemEncodes) {
  constexpr int kThreads = 6;
  ObjectCache objects({});
  EncoderCache cache(objects, kEncoder);
  std::barrier start(kThreads);
  std::atomic<int> encoded{0};
  std::vector<std::string> got(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        // A default stream belongs to a thread: each has its own.
        const mx::Stream stream = mx::new_stream(mx::Device::cpu);
        start.arrive_and_wait();
        const std::vector<EncoderInput> inputs{input("a"), input("b")};
        const auto all = cache.get_or_make(
            inputs,
            [&](std::span<const size_t> missing) {
              std::vector<mx::array> features;
              for (const size_t i : missing) {
                ++encoded;
                features.push_back(mx::full(
                    {100}, static_cast<float>(i) + 1.0f, mx::float32, stream));
              }
              return features;
            },
            stream);
        mx::array sum = mx::add(all[0], all[1], stream);
        mx::eval({sum});
        got[static_cast<size_t>(t)] = {sum.data<char>(), sum.nbytes()};
      });
    }
  }
  EXPECT_EQ(encoded, 2);
  for (const std::string& each : got) {
    EXPECT_EQ(each, bits(mx::full({100}, 3.0f)));
  }
}

} // namespace
} // namespace holdfast
