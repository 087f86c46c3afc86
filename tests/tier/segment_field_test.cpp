// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Each field of a segment, wrong under right checksums.

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/segment_support.h"

namespace holdfast::test {
namespace {

namespace at = segment_fields;
using testing::HasSubstr;

constexpr size_t kDirectory = 4 * 4096;
constexpr size_t kEntry = kDirectory + 8 + 2 * 8; // behind the one layout

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
        FieldCase{"Checksum", kEntry + 3 * 64, 1, 8, kBad, "plane 0"},
        FieldCase{"Slack", kDirectory + 4000, 1, 1, kBad, "reserved byte"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace holdfast::test
