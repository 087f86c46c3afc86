// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Each field of a conversation's file, wrong under right checksums.

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/conversation_support.h"

namespace holdfast::test {
namespace {

namespace at = conversation_fields;
using testing::HasSubstr;

// The example's directory, byte by byte.
constexpr size_t kScope = 64 + 6 + 2 * 4096;
constexpr size_t kSpace = kScope + 4 + 7;
constexpr size_t kName = kSpace + 4 + 4;
constexpr size_t kRecordVersion = kName + 4 + 6;
constexpr size_t kLength = kRecordVersion + 8;
constexpr size_t kBody = kLength + 8;
constexpr size_t kNode = kBody + 32;
constexpr size_t kMarks = kNode + 16 + 64 * 4;
constexpr size_t kImage = kMarks + 4;
constexpr size_t kPiece = kImage + 8;
constexpr size_t kLastNode = kPiece + 32;
constexpr size_t kLastImage = kLastNode + 16 + 2 * 4 + 5;

struct FieldCase {
  const char* name;
  size_t offset;
  uint64_t value;
  int width;
  ErrorCode code;
  const char* text;
};

class ConversationField : public testing::TestWithParam<FieldCase> {};

TEST_P(ConversationField, ThatIsWrongIsRefused) {
  const FieldCase& c = GetParam();
  TalkBytes bytes = example_conversation();
  std::memcpy(bytes.data() + c.offset, &c.value, static_cast<size_t>(c.width));
  seal_conversation(bytes);
  const Status status = read_conversation(bytes);
  EXPECT_EQ(status.code(), c.code) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(c.text));
  EXPECT_EQ(status.text().find('\n'), std::string::npos);
}

constexpr ErrorCode kBad = ErrorCode::kCorrupt;
constexpr ErrorCode kOther = ErrorCode::kUnsupported;
constexpr uint64_t kNegative = uint64_t{1} << 63;
constexpr uint64_t kHuge = 0xffffffff;

INSTANTIATE_TEST_SUITE_P(
    Header,
    ConversationField,
    testing::Values(
        FieldCase{"Magic", 0, 'H', 1, kBad, "magic"},
        FieldCase{"VersionBefore", at::kVersion, 0, 4, kOther, "version"},
        FieldCase{"VersionAfter", at::kVersion, 2, 4, kOther, "version"},
        FieldCase{
            "ImageLayout",
            at::kImageLayout,
            9,
            4,
            kOther,
            "image layout"},
        FieldCase{
            "BlockTokens",
            at::kBlockTokens,
            32,
            4,
            kOther,
            "tokens of a block"},
        FieldCase{"Zero", at::kZero, 1, 4, kBad, "reserved"},
        FieldCase{"FileBytes", at::kFileBytes, 9000, 8, kBad, "by its header"},
        FieldCase{"FileBytesFew", at::kFileBytes, 63, 8, kBad, "file size"},
        FieldCase{
            "FileBytesNegative",
            at::kFileBytes,
            kNegative,
            8,
            kBad,
            "file size"},
        FieldCase{
            "DirectoryOffset",
            at::kDirectoryOffset,
            kScope - 1,
            8,
            kBad,
            "scope"},
        FieldCase{
            "DirectoryOffsetBeyond",
            at::kDirectoryOffset,
            9999,
            8,
            kBad,
            "directory offset"},
        FieldCase{
            "DirectoryOffsetInTheHeader",
            at::kDirectoryOffset,
            63,
            8,
            kBad,
            "directory offset"},
        FieldCase{"NodesNone", at::kNodes, 0, 4, kBad, "images"},
        FieldCase{"NodesFew", at::kNodes, 1, 4, kBad, "images"},
        FieldCase{"NodesHuge", at::kNodes, kHuge, 4, kBad, "inner node"},
        FieldCase{"ImagesFew", at::kImages, 1, 4, kBad, "images of a node"},
        FieldCase{"ImagesHuge", at::kImages, kHuge, 4, kBad, "images"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Record,
    ConversationField,
    testing::Values(
        FieldCase{"ScopeHuge", kScope, kHuge, 4, kBad, "scope"},
        FieldCase{"SpaceHuge", kSpace, kHuge, 4, kBad, "space of the record"},
        FieldCase{"NameHuge", kName, kHuge, 4, kBad, "name of the record"},
        FieldCase{
            "VersionNegative",
            kRecordVersion,
            kNegative,
            8,
            kBad,
            "version of"},
        FieldCase{"LengthFew", kLength, 64, 8, kBad, "length of the record"},
        FieldCase{"LengthMany", kLength, 67, 8, kBad, "length of the record"},
        FieldCase{
            "LengthNegative",
            kLength,
            kNegative,
            8,
            kBad,
            "length of the"},
        FieldCase{"BodyEncoding", kBody, 2, 4, kBad, "body"},
        FieldCase{"BodyPacked", kBody, 1, 4, kBad, "zstd"},
        FieldCase{"BodyZero", kBody + 4, 1, 4, kBad, "body"},
        FieldCase{"BodyStoredHuge", kBody + 8, 1 << 20, 8, kBad, "body"},
        FieldCase{"BodyStoredNone", kBody + 8, 0, 8, kBad, "body"},
        FieldCase{"BodyStoredNegative", kBody + 8, kNegative, 8, kBad, "body"},
        FieldCase{"BodyBytes", kBody + 16, 7, 8, kBad, "body"},
        FieldCase{"BodyChecksum", kBody + 24, 7, 8, kBad, "checksum"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Nodes,
    ConversationField,
    testing::Values(
        FieldCase{"TokensNone", kNode, 0, 4, kBad, "tokens of a node"},
        FieldCase{"TokensFew", kNode, 63, 4, kBad, ""},
        FieldCase{"TokensMany", kNode, 65, 4, kBad, "tokens of a node"},
        FieldCase{"ImagesNone", kNode + 4, 0, 4, kBad, ""},
        FieldCase{"ImagesHuge", kNode + 4, kHuge, 4, kBad, "images of a node"},
        FieldCase{"CostNegative", kNode + 8, kNegative, 8, kBad, "cost"},
        FieldCase{"MarksHuge", kMarks, kHuge, 4, kBad, "marks"},
        FieldCase{"GroupNegative", kImage, kHuge, 4, kBad, "layer group"},
        FieldCase{"PhaseNegative", kImage + 4, kHuge, 4, kBad, "phase"},
        FieldCase{"Encoding", kPiece, 2, 4, kBad, "image"},
        FieldCase{"Packed", kPiece, 1, 4, kBad, "zstd"},
        FieldCase{"Zero", kPiece + 4, 1, 4, kBad, "image"},
        FieldCase{"StoredNone", kPiece + 8, 0, 8, kBad, "image"},
        FieldCase{"StoredBeyond", kPiece + 8, 8193, 8, kBad, "image"},
        FieldCase{"StoredNegative", kPiece + 8, kNegative, 8, kBad, "image"},
        FieldCase{"Bytes", kPiece + 16, 8192, 8, kBad, "image"},
        FieldCase{"Checksum", kPiece + 24, 7, 8, kBad, "checksum"},
        FieldCase{"LastTokens", kLastNode, 1, 4, kBad, ""},
        FieldCase{"LastStored", kLastImage + 16, 4095, 8, kBad, "image"}),
    [](const auto& info) { return info.param.name; });

// A frame may say that it unpacks to anything: nothing is taken for it.
TEST(ConversationBomb, AFrameThatClaimsMoreThanZstdCanHoldIsRefused) {
  TalkBytes bytes = example_conversation();
  store_le<uint32_t>(bytes, kPiece, 1);
  store_le<int64_t>(bytes, kPiece + 16, int64_t{1} << 29);
  seal_conversation(bytes);
  EXPECT_THAT(read_conversation(bytes).text(), HasSubstr("268435456"));
  store_le<int64_t>(bytes, kPiece + 16, int64_t{1} << 31);
  seal_conversation(bytes);
  EXPECT_EQ(read_conversation(bytes).code(), ErrorCode::kCorrupt);
}

TEST(ConversationSlots, MustRiseWithinANode) {
  const auto files = MemoryFileSystem::make();
  const auto writer = ConversationWriter::create({files, "/talk", 0}).value();
  writer->add_node({.tokens = {1}, .marks = {}, .cost = 0, .images = {}});
  writer->add_image({0, 0}, counting_image()).check();
  writer->add_image({0, 1}, counting_image()).check();
  const Bytes size = writer->finish({""}, {"", "", 0, Position(1), {}}).value();
  TalkBytes bytes(static_cast<size_t>(size.get()));
  files->open("/talk", FileSystem::Access::kRead)
      .value()
      ->read(Bytes(0), bytes)
      .check();
  store_le<int32_t>(bytes, bytes.size() - 36, 0); // the second one's phase
  seal_conversation(bytes);
  EXPECT_THAT(read_conversation(bytes).text(), HasSubstr("rising slots"));
}

} // namespace
} // namespace holdfast::test
