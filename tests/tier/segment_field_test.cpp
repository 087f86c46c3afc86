// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Each field of a segment, wrong under right checksums.

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/manifest_sql.h"
#include "tests/tier/segment_support.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

namespace at = segment_fields;
using testing::HasSubstr;

constexpr size_t kDirectory = 4 * 4096;
constexpr size_t kEntry = kDirectory + 8 + 2 * 8; // behind the one layout
constexpr size_t kBody = kEntry + 64;
constexpr size_t kObject = kBody + 64;

/// A field, what to write there, and what must be said of it.
struct FieldCase {
  const char* name;
  size_t offset;
  uint64_t value;
  int width;
  ErrorCode code;
  const char* text;
};

class SegmentField : public testing::TestWithParam<FieldCase> {};

TEST_P(SegmentField, ThatIsWrongIsRefused) {
  const FieldCase& c = GetParam();
  FileBytes bytes = example_segment();
  std::memcpy(bytes.data() + c.offset, &c.value, static_cast<size_t>(c.width));
  seal(bytes);
  const Status status = read_all(bytes);
  EXPECT_EQ(status.code(), c.code) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(c.text));
  EXPECT_EQ(status.text().find('\n'), std::string::npos);
}

constexpr ErrorCode kBad = ErrorCode::kCorrupt;
constexpr ErrorCode kOther = ErrorCode::kUnsupported;

INSTANTIATE_TEST_SUITE_P(
    Header,
    SegmentField,
    testing::Values(
        FieldCase{"Magic", 0, 'H', 1, kBad, "magic"},
        FieldCase{"VersionBefore", at::kVersion, 0, 4, kOther, "version"},
        FieldCase{"VersionAfter", at::kVersion, 2, 4, kOther, "version"},
        FieldCase{"PageBytes", at::kPageBytes, 8192, 4, kOther, "page size"},
        FieldCase{
            "ImageLayout",
            at::kImageLayout,
            99,
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
        FieldCase{
            "FileBytes",
            at::kFileBytes,
            6 * 4096,
            8,
            kBad,
            "another size"},
        FieldCase{"FileBytesOdd", at::kFileBytes, 4097, 8, kBad, "file size"},
        FieldCase{
            "FileBytesNegative",
            at::kFileBytes,
            uint64_t{1} << 63,
            8,
            kBad,
            "file size"},
        FieldCase{
            "DirectoryOffset",
            at::kDirectoryOffset,
            3 * 4096,
            8,
            kBad,
            "reserved byte"},
        FieldCase{
            "DirectoryOffsetBeyond",
            at::kDirectoryOffset,
            5 * 4096,
            8,
            kBad,
            "directory offset"},
        FieldCase{
            "DirectoryOffsetOdd",
            at::kDirectoryOffset,
            kDirectory + 1,
            8,
            kBad,
            "directory offset"},
        FieldCase{"LayoutsNone", at::kLayouts, 0, 4, kBad, "offset of an"},
        FieldCase{"LayoutsHuge", at::kLayouts, 0xffffffff, 4, kBad, "of"},
        FieldCase{"EntriesNone", at::kEntries, 0, 4, kBad, "last extent"},
        FieldCase{"EntriesHuge", at::kEntries, 0xffffffff, 4, kBad, "extent"},
        FieldCase{"ChecksumsFew", at::kChecksums, 3, 4, kBad, "checksums"},
        FieldCase{
            "ChecksumsHuge",
            at::kChecksums,
            0xffffffff,
            4,
            kBad,
            "checksums"},
        FieldCase{"ZeroA", at::kMoreZero, 1, 1, kBad, "reserved byte"},
        FieldCase{"ZeroB", 2000, 1, 1, kBad, "reserved byte"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Directory,
    SegmentField,
    testing::Values(
        FieldCase{"PlanesNone", kDirectory, 0, 4, kBad, "planes"},
        FieldCase{
            "PlanesHuge",
            kDirectory,
            0xffffffff,
            4,
            kBad,
            "lengths of planes"},
        FieldCase{"LayoutZero", kDirectory + 4, 1, 1, kBad, "reserved byte"},
        FieldCase{
            "PlaneLengthZero",
            kDirectory + 8,
            0,
            8,
            kBad,
            "length of a plane"},
        FieldCase{
            "PlaneLengthNegative",
            kDirectory + 8,
            uint64_t{1} << 63,
            8,
            kBad,
            "length of a plane"},
        FieldCase{
            "PlaneLengthOther",
            kDirectory + 8,
            3000,
            8,
            kBad,
            "sum of the"},
        FieldCase{"Type", kEntry + at::kType, 4, 4, kBad, "type of an extent"},
        FieldCase{"TypeZero", kEntry + at::kType, 0, 4, kBad, "type of an"},
        FieldCase{"TypeBody", kEntry + at::kType, 2, 4, kBad, "entry"},
        FieldCase{"Group", kEntry + at::kGroup, 0x80000000, 4, kBad, "entry"},
        FieldCase{"Phase", kEntry + at::kPhase, 0x80000000, 4, kBad, "entry"},
        FieldCase{"Layout", kEntry + at::kLayout, 1, 4, kBad, "layout of an"},
        FieldCase{
            "Offset",
            kEntry + at::kOffset,
            8192,
            8,
            kBad,
            "offset of an"},
        FieldCase{
            "Length",
            kEntry + at::kBytes,
            8192,
            8,
            kBad,
            "sum of the planes"},
        FieldCase{
            "LengthZero",
            kEntry + at::kBytes,
            0,
            8,
            kBad,
            "length of an"},
        FieldCase{
            "LengthHuge",
            kEntry + at::kBytes,
            int64_t{1} << 62,
            8,
            kBad,
            "length of an"},
        FieldCase{
            "FirstChecksum",
            kEntry + at::kFirstChecksum,
            1,
            4,
            kBad,
            "first checksum"},
        FieldCase{
            "ChecksumCount",
            kEntry + at::kChecksumCount,
            1,
            4,
            kBad,
            "checksums of an extent"},
        FieldCase{
            "PositionsZero",
            kEntry + at::kPositions,
            0,
            4,
            kBad,
            "entry"},
        FieldCase{
            "PositionsMany",
            kEntry + at::kPositions,
            65,
            4,
            kBad,
            "entry"},
        FieldCase{
            "EntryZero",
            kEntry + at::kEntryZero,
            1,
            1,
            kBad,
            "reserved byte"},
        FieldCase{
            "BodyWithKey",
            kEntry + 64 + at::kKeyLow,
            1,
            8,
            kBad,
            "entry"},
        FieldCase{"BodyKey", kBody + at::kKeyHigh, 1, 8, kBad, "entry"},
        FieldCase{"BodyGroup", kBody + at::kGroup, 1, 4, kBad, "entry"},
        FieldCase{"BodyPhase", kBody + at::kPhase, 1, 4, kBad, "entry"},
        FieldCase{"BodyPositions", kBody + at::kPositions, 1, 4, kBad, "entry"},
        FieldCase{"ObjectKey", kObject + at::kKeyHigh, 1, 8, kBad, "entry"},
        FieldCase{"ObjectGroup", kObject + at::kGroup, 1, 4, kBad, "entry"},
        FieldCase{"ObjectPhase", kObject + at::kPhase, 1, 4, kBad, "entry"},
        FieldCase{
            "ObjectPositions",
            kObject + at::kPositions,
            1,
            4,
            kBad,
            "entry"},
        FieldCase{"ObjectType", kObject + at::kType, 1, 4, kBad, "entry"},
        FieldCase{"Checksum", kEntry + 3 * 64, 1, 8, kBad, "plane 0"},
        FieldCase{"Slack", kDirectory + 4000, 1, 1, kBad, "reserved byte"}),
    [](const auto& info) { return info.param.name; });

// Fields that only the manifest can tell wrong: writer, number and the node
// that an image is of. With right checksums, also where the manifest has them.
TEST(SegmentOfATier, ThatNamesAnotherSegmentOrNodeIsNotOffered) {
  struct Named {
    const char* name;
    size_t offset;
    bool in_entry; // of the first image; else in the header
    int mask = 1; // what is changed of its lowest byte
  };
  for (const Named& field :
       {Named{"writer", at::kWriter, false},
        Named{"number", at::kNumber, false},
        Named{"key, high", at::kKeyHigh, true},
        Named{"key, low", at::kKeyLow, true},
        Named{"group", at::kGroup, true},
        Named{"phase", at::kPhase, true},
        Named{"positions", at::kPositions, true, 0x60}}) {
    for (const bool in_manifest : {false, true}) {
      SCOPED_TRACE(
          std::string(field.name) + (in_manifest ? ", in the manifest" : ""));
      TierRig rig;
      const Tokens tokens = chat_tokens(1, 200);
      {
        const auto tier = rig.open();
        tier->store(path_batch(tier->scope({"a"}).value(), tokens, rig.images))
            .value();
      }
      const auto file = rig.memory
                            ->open(
                                segments_of(*rig.memory, "/state").at(0),
                                FileSystem::Access::kReadWrite)
                            .value();
      FileBytes bytes(static_cast<size_t>(file->facts().value().size.get()));
      file->read(Bytes(0), bytes).check();
      const auto directory =
          static_cast<size_t>(load_le<uint64_t>(bytes, at::kDirectoryOffset));
      constexpr size_t kLayout = 8 + 3 * 8; // one, of three planes
      ASSERT_EQ(load_le<uint32_t>(bytes, at::kLayouts), 1u);
      bytes[field.offset + (field.in_entry ? directory + kLayout : 0)] ^=
          static_cast<std::byte>(field.mask);
      seal(bytes);
      file->write(Bytes(0), bytes).check();
      if (in_manifest) {
        const auto sum =
            static_cast<int64_t>(load_le<uint64_t>(bytes, at::kHeaderChecksum));
        run_sql(
            rig.memory,
            "UPDATE segments SET checksum = " + std::to_string(sum));
      }
      const auto tier = rig.open();
      Offered all;
      ASSERT_TRUE(tier->load(all).ok());
      int64_t given = 0;
      for (const auto& [id, node] : all.nodes) {
        for (const StoredImage& image : node.stored.images) {
          const auto mapped = tier->map(image.extent);
          given += mapped.ok() ? 1 : 0;
          EXPECT_TRUE(
              !mapped.ok() ||
              text_of(mapped.value()) == Images::text(node.path, image.slot));
        }
      }
      // Of another segment nothing; of an entry that is another's all but it.
      EXPECT_EQ(given, in_manifest && field.in_entry ? 7 : 0);
      EXPECT_EQ(offered(*tier).restorable(tokens), 0);
      expect_consistent(*tier);
    }
  }
}

} // namespace
} // namespace holdfast::test
