// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The way back of turbo values: what is attended in the rotated domain is
// rotated back once, in f32, and rounded nowhere else.

#include "holdfast/codec/turbo.h"
#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

/// What the codec decodes for a position and head, its norm rounded to bf16 as
/// a weight of 1 times the norm is.
std::vector<float> decoded(
    const Player& player,
    const PlayedRow& row,
    const AttendSetup& setup,
    int64_t position,
    int64_t head) {
  const int64_t slot = position % kBlockTokens;
  const std::byte* codes = player.plane(row, position, head, 1 + kTurboCodes);
  float norms[kBlockTokens];
  std::memcpy(
      norms, player.plane(row, position, head, 1 + kTurboNorms), sizeof(norms));
  norms[slot] = bf16_to_f32(f32_to_bf16(norms[slot]));
  const std::byte* planes[] = {
      codes, reinterpret_cast<const std::byte*>(norms)};
  std::vector<float> vector(static_cast<size_t>(setup.spec.value_dim));
  setup.values->decode(ChannelRole::kValues, planes, slot, vector);
  return vector;
}

TEST(AttendRotation, GivesTheBitsOfDecodeWhereAQuerySeesOneKey) {
  for (const int bits : {2, 3, 4, 5, 8}) {
    const TurboCodec turbo(bits);
    for (const int64_t dim : {64, 80, 128, 256}) {
      for (const KernelPath path : paths_here()) {
        AttendSetup setup{
            .spec = small_spec(4, 2, dim),
            .keys = &codec_named("f32"),
            .values = &turbo,
            .path = path};
        setup.spec.visibility = {.window = 1};
        Player player(setup);
        const PlayedRow& row = player.add_row(7);
        player.play(0, {1, 9, 60, 1}); // one row tile, and several
        for (int64_t position = 0; position < row.written; ++position) {
          for (int64_t head = 0; head < 4; ++head) {
            const std::vector<float> want =
                decoded(player, row, setup, position, head / 2);
            const float* got = row.outputs.at(position).data() + head * dim;
            ASSERT_EQ(
                std::memcmp(got, want.data(), want.size() * sizeof(float)), 0)
                << name(path) << " " << turbo.name() << " dim " << dim
                << " position " << position << " head " << head << ": expected "
                << want[0] << ", got " << got[0];
          }
        }
      }
    }
  }
}

} // namespace
} // namespace holdfast::cpu
