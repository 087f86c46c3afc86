// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Pieces that are written at once: the same bytes as one after the other,
// whichever way they go to the device.

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "each_file_system.h"
#include "holdfast/env/pages.h"

namespace holdfast {
namespace {

using Piece = std::span<const std::byte>;
using Remember = File::Remember;

constexpr int64_t kPage = 4096;

class FilePieces : public EachFileSystem {
 protected:
  FilePieces() : memory_(allocate_pages(kBytes)) {
    std::mt19937 random(5);
    for (int64_t i = 0; i < kBytes; ++i) {
      memory_.get()[i] = static_cast<std::byte>(random());
    }
  }
  Piece piece(int64_t from, int64_t bytes) const {
    return {memory_.get() + from, static_cast<size_t>(bytes)};
  }
  /// Writes them from `offset` on, between bytes that were there, and compares.
  void expect_written(int64_t offset, const std::vector<Piece>& pieces) {
    for (const Remember remember : {Remember::kYes, Remember::kNo}) {
      const std::string path = at("f" + std::to_string(++files_));
      const auto file = system_->create(path).value();
      file->truncate(Bytes(offset + 2 * kBytes)).check();
      file->write(Bytes(0), piece(17, kPage)).check();
      file->write_pieces(Bytes(offset), pieces, remember).check();
      file->sync().check();
      std::vector<std::byte> wanted;
      for (const Piece each : pieces) {
        wanted.insert(wanted.end(), each.begin(), each.end());
      }
      std::vector<std::byte> got(wanted.size());
      file->read(Bytes(offset), got).check();
      EXPECT_TRUE(got == wanted);
      const auto mapped = file->map(Bytes(0), Bytes(offset + kPage)).value();
      EXPECT_EQ(mapped.get()[0], offset == 0 ? wanted[0] : piece(17, 1)[0]);
    }
  }

  static constexpr int64_t kBytes = int64_t{3} << 20;
  const std::shared_ptr<std::byte> memory_;
  int files_ = 0;
};

TEST_P(FilePieces, OnPagesFollowEachOther) {
  expect_written(
      kPage,
      {piece(0, 8 * kPage), piece(64 * kPage, kPage), piece(0, 200 * kPage)});
  expect_written(0, {piece(kPage, 2 * kPage)});
}

TEST_P(FilePieces, ThatLieOnNoPagesFollowEachOtherToo) {
  expect_written(kPage, {piece(0, 8 * kPage), piece(9, kPage)});
  expect_written(kPage, {piece(0, 8 * kPage), piece(2 * kPage, 100)});
  expect_written(kPage + 1, {piece(0, kPage), piece(0, kPage)});
}

// More than a system takes at once.
TEST_P(FilePieces, MayBeVeryMany) {
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < 600; ++i) {
    pieces.push_back(piece((i * 7 % 700) * kPage, kPage));
  }
  expect_written(3 * kPage, pieces);
}

TEST_P(FilePieces, OfNothingWriteNothing) {
  const auto file = system_->create(at("none")).value();
  const Piece nothing[] = {Piece(), Piece()};
  EXPECT_TRUE(file->write_pieces(Bytes(0), {}, Remember::kNo).ok());
  EXPECT_TRUE(file->write_pieces(Bytes(0), nothing, Remember::kNo).ok());
  EXPECT_EQ(file->facts().value().size, Bytes(0));
}

TEST_P(FilePieces, OutsideOfAnyFileAreRefused) {
  const auto file = system_->create(at("outside")).value();
  const Piece pieces[] = {piece(0, kPage)};
  for (const Remember remember : {Remember::kYes, Remember::kNo}) {
    EXPECT_EQ(
        code(
            file->write_pieces(Bytes(-kPage), pieces, remember), at("outside")),
        ErrorCode::kInvalidArgument);
  }
}

HOLDFAST_EACH_FILE_SYSTEM(FilePieces);

TEST(FaultyPieces, AShortWriteLeavesTheirFirstHalf) {
  const auto memory = MemoryFileSystem::make();
  FaultyFileSystem faulty(memory);
  const auto file = faulty.create("/f").value();
  const std::vector<std::byte> ones(3000, std::byte{1});
  const std::vector<std::byte> twos(1000, std::byte{2});
  const Piece pieces[] = {ones, twos};
  faulty.fail({.kind = FileFault::Kind::kShortWrite, .only = FileCall::kWrite});
  EXPECT_FALSE(file->write_pieces(Bytes(0), pieces, Remember::kYes).ok());
  EXPECT_EQ(file->facts().value().size, Bytes(2000));
  faulty.fail({.kind = FileFault::Kind::kShortWrite, .only = FileCall::kWrite});
  const Piece other_way[] = {twos, ones};
  EXPECT_FALSE(file->write_pieces(Bytes(0), other_way, Remember::kYes).ok());
  std::vector<std::byte> got(2000);
  file->read(Bytes(0), got).check();
  EXPECT_EQ(got[999], std::byte{2});
  EXPECT_EQ(got[1999], std::byte{1});
}

} // namespace
} // namespace holdfast
