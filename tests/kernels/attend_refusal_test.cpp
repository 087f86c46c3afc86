// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

/// A codec that no kernel reads.
class StrangeCodec : public Codec {
 public:
  std::string name() const override {
    return "strange";
  }
  std::string id() const override {
    return "strange.1";
  }
  Status supports(ChannelRole, int64_t) const override {
    return Status();
  }
  std::vector<PlaneSpec> planes(ChannelRole, int64_t) const override {
    return {};
  }
  void encode(
      ChannelRole,
      std::span<const float>,
      int64_t,
      std::span<std::byte* const>) const override {}
  void decode(
      ChannelRole,
      std::span<const std::byte* const>,
      int64_t,
      std::span<float>) const override {}
};

ErrorCode code_of(Player& player) {
  try {
    player.step({{0, 1}});
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kOk;
}

/// A player whose row holds `tokens` tokens.
Player& with_row(Player& player, int64_t tokens) {
  player.add_row(1);
  player.fill(0, tokens);
  return player;
}

TEST(AttendRefusal, NamesTheHeadSizesThatCannotBeStored) {
  const Codec& bf16 = codec_named("bf16");
  for (const int64_t dim : {0, 8, 72, 100, 528}) {
    AttentionSpec spec = small_spec(1, 1, 64);
    spec.key_dim = dim;
    const Status status = supports_attend(spec, bf16, bf16, KernelPath::kPlain);
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << dim;
    EXPECT_NE(status.text().find(std::to_string(dim)), std::string::npos);
  }
  for (const int64_t dim : {64, 80, 96, 128, 192, 256}) {
    EXPECT_TRUE(
        supports_attend(small_spec(1, 1, dim), bf16, bf16, KernelPath::kPlain)
            .ok());
  }
}

TEST(AttendRefusal, NamesACodecWithoutAKernel) {
  const StrangeCodec strange;
  const Status status = supports_attend(
      small_spec(1, 1, 64), codec_named("f32"), strange, KernelPath::kPlain);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.text().find("strange"), std::string::npos);
}

TEST(AttendRefusal, LeavesTheBlocksAsTheyWereWhenASpecCannotBe) {
  for (const int broken : {0, 1, 2, 3}) {
    Player player({.spec = small_spec(4, 2, 64)});
    with_row(player, 10);
    AttentionSpec& spec = player.setup().spec;
    switch (broken) {
      case 0:
        spec.query_heads = 3;
        break;
      case 1:
        spec.sink_logits = {1.0f};
        break;
      case 2:
        spec.visibility.window = -1;
        break;
      default:
        spec.softcap = NAN;
    }
    const auto size = static_cast<size_t>(player.layout().bytes().get());
    std::vector<std::byte> before(size);
    std::memcpy(before.data(), player.row(0).images[0].get(), size);
    EXPECT_EQ(code_of(player), ErrorCode::kInvalidArgument) << broken;
    EXPECT_EQ(
        std::memcmp(before.data(), player.row(0).images[0].get(), size), 0);
  }
}

TEST(AttendRefusal, NamesAVisibleBlockThatIsMissing) {
  Player player({.spec = small_spec(1, 1, 64)});
  with_row(player, 200);
  player.row(0).images[1].reset();
  try {
    player.step({{0, 1}});
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("block 1"), std::string::npos);
  }
}

} // namespace
} // namespace holdfast::cpu
