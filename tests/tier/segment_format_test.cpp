// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_format.h"

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/tier/segment_reader.h"
#include "tests/tier/segment_support.h"

namespace holdfast::test {
namespace {

namespace at = segment_fields;
using testing::HasSubstr;

constexpr size_t kDirectory = 4 * 4096;

TEST(SegmentFormat, GivesBackWhatWasWritten) {
  const FileBytes bytes = example_segment();
  ASSERT_EQ(bytes.size(), 5u * 4096);
  const auto header =
      parse_segment_header(std::span(bytes).first(4096), "file").value();
  EXPECT_EQ(header.identity, kIdentity);
  EXPECT_EQ(header.directory_offset, Bytes(kDirectory));
  const auto directory =
      parse_segment_directory(
          header, std::span(bytes).subspan(kDirectory), "file")
          .value();
  ASSERT_EQ(directory.entries.size(), 3u);
  const SegmentEntry& image = directory.entries[0];
  EXPECT_EQ(image.slot, (ImageSlot{1, 2}));
  EXPECT_EQ(image.positions, 64u);
  EXPECT_EQ(image.key, (Key128{0x1112131415161718, 0x2122232425262728}));
  EXPECT_EQ(image.checksum_count, 2u);
  EXPECT_EQ(directory.entries[1].bytes, Bytes(6));
  EXPECT_EQ(directory.find(Bytes(8192), Bytes(6)), &directory.entries[1]);
  EXPECT_EQ(directory.find(Bytes(8192), Bytes(7)), nullptr);
  EXPECT_EQ(directory.find(Bytes(8193), Bytes(6)), nullptr);
  EXPECT_TRUE(read_all(bytes).ok());
}

std::string hex_lines(std::span<const std::byte> bytes) {
  std::string lines;
  char text[32];
  for (size_t line = 0; line < bytes.size(); line += 16) {
    std::string digits;
    bool zero = true;
    for (size_t i = line; i < line + 16; ++i) {
      std::snprintf(
          text, sizeof(text), " %02x", std::to_integer<int>(bytes[i]));
      digits += text;
      zero = zero && bytes[i] == std::byte{};
    }
    if (!zero) {
      std::snprintf(text, sizeof(text), "%05zx", line);
      lines += text + std::string(" ") + digits + "\n";
    }
  }
  return lines;
}

TEST(SegmentFormat, TheWorkedExampleOfThePageIsTheBytesOfAFile) {
  const FileBytes bytes = example_segment();
  // All but the image, whose pattern the page says in words.
  std::string lines;
  std::istringstream in(hex_lines(bytes));
  for (std::string line; std::getline(in, line);) {
    const size_t offset = std::stoul(line, nullptr, 16);
    if (offset < 4096 || offset >= 8192) {
      lines += line + "\n";
    }
  }
  std::ifstream page(HOLDFAST_TEST_DATA "/../../docs/segment.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_THAT(text, HasSubstr(lines));
}

TEST(SegmentFormat, EveryFlippedBitIsFound) {
  const FileBytes right = example_segment();
  std::mt19937_64 random(5);
  for (size_t byte = 0; byte < right.size(); ++byte) {
    // All of header and directory; of the extents, what they cover.
    const bool covered = byte < 8192 || byte >= kDirectory ||
        (byte >= 8192 && byte < 8192 + 6) ||
        (byte >= 12288 && byte < 12288 + 9);
    if (!covered) {
      continue;
    }
    FileBytes bytes = right;
    bytes[byte] ^= std::byte{1} << (random() % 8);
    ASSERT_FALSE(read_all(bytes).ok()) << byte;
  }
}

TEST(SegmentFormat, EveryTruncationIsFound) {
  const FileBytes right = example_segment();
  for (size_t size = 0; size < right.size(); size += size % 512 ? 1 : 255) {
    ASSERT_EQ(
        read_all(std::span(right).first(size)).code(), ErrorCode::kCorrupt)
        << size;
  }
}

TEST(SegmentFormat, AHeaderChecksumThatIsWrongIsRefused) {
  FileBytes bytes = example_segment();
  bytes[at::kHeaderChecksum] ^= std::byte{1};
  EXPECT_THAT(read_all(bytes).text(), HasSubstr("checksum of the header"));
  bytes = example_segment();
  bytes[at::kDirectoryChecksum] ^= std::byte{1};
  store_le<uint64_t>(
      bytes,
      at::kHeaderChecksum,
      checksum(std::span(bytes).first(at::kHeaderChecksum)));
  EXPECT_THAT(read_all(bytes).text(), HasSubstr("checksum of the directory"));
}

TEST(SegmentFormat, NamesThePlaneThatIsDamaged) {
  FileBytes bytes = example_segment();
  bytes[4096 + 3072] ^= std::byte{1};
  EXPECT_THAT(read_all(bytes).text(), HasSubstr("plane 1 at offset 7168"));
}

// Every byte of header and directory set to many values under right checksums:
// refused or read, never a crash (run under asan), and no wrong extent.
TEST(SegmentFormat, AnyFieldMayHoldAnything) {
  const FileBytes right = example_segment();
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    FileBytes bytes = right;
    for (uint64_t changes = random() % 3 + 1; changes > 0; --changes) {
      const bool header = random() % 2 == 0;
      const size_t byte = header ? random() % 80 : kDirectory + random() % 256;
      bytes[byte] = static_cast<std::byte>(random() % 4 ? random() : 0xff);
    }
    seal(bytes);
    std::ignore = read_all(bytes);
  }
}

TEST(SegmentWriter, FileGrowsWithWhatIsStored) {
  const auto size = [](int64_t bytes) {
    const std::vector<std::byte> object(static_cast<size_t>(bytes));
    SegmentPlan plan;
    plan.add_bytes(ExtentType::kObject, object);
    return plan.file_bytes().get();
  };
  EXPECT_EQ(size(1), 3 * 4096);
  EXPECT_EQ(size(4096), 3 * 4096);
  EXPECT_EQ(size(4097), 4 * 4096);
  EXPECT_EQ(SegmentPlan().file_bytes(), Bytes(0));
}

TEST(SegmentWriter, WritesInLargePieces) {
  std::vector<std::vector<std::byte>> images(
      64, std::vector<std::byte>(64 << 10, std::byte{3}));
  SegmentPlan plan;
  for (const auto& image : images) {
    SegmentEntry entry;
    entry.positions = 64;
    plan.add_image(entry, image, {});
  }
  const auto files = MemoryFileSystem::make();
  const auto file = files->create("/segment").value();
  ASSERT_TRUE(plan.write(*file, kIdentity).ok());
  // 4 MiB of images, a directory and the header.
  EXPECT_LE(files->counts().writes, 6);
  EXPECT_EQ(
      read_segment(*file).value().directory.entries.size(), images.size());
}

TEST(SegmentReader, RefusesAFileOfAnotherSize) {
  const FileBytes bytes = example_segment();
  const auto files = MemoryFileSystem::make();
  const auto file = files->create("/segment").value();
  EXPECT_EQ(read_segment(*file).status().code(), ErrorCode::kCorrupt);
  file->write(Bytes(0), bytes).check();
  EXPECT_TRUE(read_segment(*file).ok());
  file->truncate(Bytes(std::ssize(bytes) + 4096)).check();
  EXPECT_EQ(read_segment(*file).status().code(), ErrorCode::kCorrupt);
  file->truncate(Bytes(std::ssize(bytes) - 4096)).check();
  EXPECT_EQ(read_segment(*file).status().code(), ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast::test
