// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels' append writes the bytes that Codec::encode writes.

#include "holdfast/codec/dense.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

/// Ordinary values among those that round or convert in a special way.
std::vector<float> awkward_values(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<uint32_t>(
        static_cast<int64_t>(random_value(5, i, 0) * 0x1p31f));
    values[i] = i % 3 == 0
        ? random_value(4, i, 1) * 100.0f
        : std::bit_cast<float>(i % 3 == 1 ? bits : bits | 0x7f800000u);
  }
  return values;
}

TEST(AttendAppend, WritesTheBytesOfTheCodecForEverySlotAndCount) {
  for (const KernelPath path : paths_here()) {
    for (const Codec* codec : dense_codecs()) {
      const auto format = static_cast<int>(codec->form().format);
      for (const int64_t dim : {64, 80, 96, 128, 192, 256}) {
        const int64_t stride = dim * 2; // of two heads
        const std::vector<float> source = awkward_values(64 * stride);
        for (const int64_t slot : {0, 1, 15, 30, 33}) {
          for (const int64_t count : {1, 2, 3, 31}) {
            const AppendJob job{
                .source = source.data() + dim,
                .stride = stride,
                .count = count,
                .dim = dim,
                .slot = slot,
                .plane = nullptr};
            for (const ChannelRole role :
                 {ChannelRole::kKeys, ChannelRole::kValues}) {
              const size_t size = codec->planes(role, dim)[0].bytes.get();
              std::vector<std::byte> expected(size, std::byte(0xee));
              std::vector<std::byte> got = expected;
              std::byte* planes[] = {expected.data()};
              for (int64_t i = 0; i < count; ++i) {
                codec->encode(
                    role,
                    {job.source + i * stride, static_cast<size_t>(dim)},
                    slot + i,
                    planes);
              }
              AppendJob here = job;
              here.plane = got.data();
              const AttendKernels& kernels = attend_kernels(path);
              (role == ChannelRole::kKeys
                   ? kernels.append_keys
                   : kernels.append_values)[format](here);
              ASSERT_EQ(expected, got)
                  << name(path) << " " << codec->name() << " dim " << dim
                  << " slot " << slot << " count " << count;
            }
          }
        }
      }
    }
  }
}

TEST(AttendAppend, FillsTheTailThroughTheStep) {
  for (const Codec* codec : dense_codecs()) {
    AttendSetup setup{
        .spec = small_spec(4, 2, 80), .keys = codec, .values = codec};
    setup.threads = 2;
    Player filled(setup);
    filled.add_row(1);
    filled.fill(0, 135);
    Player stepped(setup);
    stepped.add_row(1);
    stepped.play(0, {1, 61, 73});
    for (size_t b = 0; b < 3; ++b) {
      EXPECT_EQ(
          std::memcmp(
              filled.row(0).images[b].get(),
              stepped.row(0).images[b].get(),
              filled.layout().bytes().get()),
          0)
          << codec->name() << " block " << b;
    }
  }
}

} // namespace
} // namespace holdfast::cpu
