// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every file system promises, on each of them.

#include "holdfast/env/file_system.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "each_file_system.h"

namespace holdfast {
namespace {

using Access = FileSystem::Access;

class FileSystems : public EachFileSystem {};

TEST_P(FileSystems, KeepWhatIsWritten) {
  const auto file = system_->create(at("a")).value();
  EXPECT_EQ(file->path(), at("a"));
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("hello")).ok());
  ASSERT_TRUE(file->write(Bytes(3), bytes_of("p there")).ok());
  EXPECT_EQ(text_of(*file), "help there");
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(text_of(*system_, at("a")), "help there");
  ASSERT_TRUE(file->write(Bytes(12), bytes_of("!")).ok());
  EXPECT_EQ(text_of(*file), std::string("help there\0\0!", 13));
}

TEST_P(FileSystems, RefuseToReadBehindTheEnd) {
  const auto file = make_file(*system_, at("a"), "12345");
  std::string into(3, 'x');
  const auto bytes =
      std::as_writable_bytes(std::span(into.data(), into.size()));
  EXPECT_TRUE(file->read(Bytes(2), bytes).ok());
  EXPECT_EQ(into, "345");
  EXPECT_EQ(code(file->read(Bytes(3), bytes), at("a")), ErrorCode::kCorrupt);
  EXPECT_EQ(code(file->read(Bytes(500), bytes), at("a")), ErrorCode::kCorrupt);
  EXPECT_EQ(
      code(file->read(Bytes(-1), bytes), at("a")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(file->read(Bytes(INT64_MAX), bytes), at("a")),
      ErrorCode::kInvalidArgument);
}

TEST_P(FileSystems, TruncateBothWays) {
  const auto file = make_file(*system_, at("a"), "12345");
  ASSERT_TRUE(file->truncate(Bytes(2)).ok());
  EXPECT_EQ(text_of(*file), "12");
  ASSERT_TRUE(file->truncate(Bytes(5)).ok());
  EXPECT_EQ(text_of(*file), std::string("12\0\0\0", 5));
  EXPECT_EQ(
      code(file->truncate(Bytes(-1)), at("a")), ErrorCode::kInvalidArgument);
}

TEST_P(FileSystems, OpenOnlyRegularFilesThatExist) {
  EXPECT_EQ(
      code(system_->open(at("a"), Access::kRead).status(), at("a")),
      ErrorCode::kNotFound);
  EXPECT_EQ(
      code(system_->open(at("b/a"), Access::kRead).status(), at("b/a")),
      ErrorCode::kNotFound);
  for (const Access access : {Access::kRead, Access::kReadWrite}) {
    EXPECT_EQ(
        code(system_->open(root_, access).status(), root_),
        ErrorCode::kInvalidArgument);
  }
  make_file(*system_, at("a"), "");
  EXPECT_EQ(
      code(system_->open(at("a/b"), Access::kRead).status(), at("a/b")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      system_->open("", Access::kRead).status().code(), ErrorCode::kNotFound);
}

TEST_P(FileSystems, WriteNothingThroughAFileOpenForReading) {
  make_file(*system_, at("a"), "keep");
  const auto file = system_->open(at("a"), Access::kRead).value();
  EXPECT_EQ(
      code(file->write(Bytes(0), bytes_of("lost")), at("a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(file->truncate(Bytes(0)), at("a")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(file->punch(Bytes(0), Bytes(4)), at("a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(text_of(*file), "keep");
}

TEST_P(FileSystems, CreateOnlyWhatDidNotExist) {
  make_file(*system_, at("a"), "old");
  EXPECT_EQ(
      code(system_->create(at("a")).status(), at("a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(text_of(*system_, at("a")), "old");
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  EXPECT_EQ(
      code(system_->create(at("d")).status(), at("d")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(system_->create(at("missing/a")).status(), at("missing/a")),
      ErrorCode::kNotFound);
}

TEST_P(FileSystems, KeepEverythingPrivate) {
  make_file(*system_, at("a"), "");
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  EXPECT_EQ(system_->facts(at("a")).value().mode & 0777u, 0600u);
  EXPECT_EQ(system_->facts(at("d")).value().mode & 0777u, 0700u);
}

TEST_P(FileSystems, ReplaceByRenamingWithoutTouchingWhoReads) {
  const auto old = make_file(*system_, at("a"), "old");
  make_file(*system_, at("b"), "new");
  ASSERT_TRUE(system_->rename(at("b"), at("a")).ok());
  EXPECT_EQ(text_of(*system_, at("a")), "new");
  EXPECT_EQ(text_of(*old), "old");
  EXPECT_EQ(system_->facts(at("b")).status().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(system_->rename(at("a"), at("a")).ok());
  EXPECT_EQ(text_of(*system_, at("a")), "new");
}

TEST_P(FileSystems, RenameOnlyWhatFits) {
  make_file(*system_, at("a"), "a");
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  ASSERT_TRUE(system_->create_folder(at("e")).ok());
  make_file(*system_, at("e/x"), "x");
  const auto rename = [&](const char* from, const char* to) {
    return system_->rename(at(from), at(to)).code();
  };
  EXPECT_EQ(rename("missing", "b"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("a", "missing/b"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("a", "d"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(rename("d", "a"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(rename("d", "e"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(rename("e", "e/y"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(rename("e", "d"), ErrorCode::kOk);
  EXPECT_EQ(text_of(*system_, at("d/x")), "x");
  EXPECT_EQ(rename("d/x", "x"), ErrorCode::kOk);
  EXPECT_EQ(
      system_->list(root_).value(), (std::vector<std::string>{"a", "d", "x"}));
}

TEST_P(FileSystems, RemoveFilesAndEmptyFolders) {
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  const auto file = make_file(*system_, at("d/a"), "still here");
  EXPECT_EQ(
      code(system_->remove(at("d")), at("d")), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(system_->remove(at("d/a")).ok());
  EXPECT_EQ(text_of(*file), "still here");
  EXPECT_EQ(code(system_->remove(at("d/a")), at("d/a")), ErrorCode::kNotFound);
  EXPECT_TRUE(system_->remove(at("d")).ok());
  EXPECT_EQ(code(system_->remove(at("d")), at("d")), ErrorCode::kNotFound);
}

TEST_P(FileSystems, MakeAFolderOnceAndAcceptItTwice) {
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  make_file(*system_, at("d/a"), "");
  ASSERT_TRUE(system_->create_folder(at("d")).ok());
  ASSERT_TRUE(system_->create_folder(at("d/")).ok());
  EXPECT_EQ(system_->list(at("d/")).value().size(), 1u);
  EXPECT_EQ(
      code(system_->create_folder(at("d/a")), at("d/a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(system_->create_folder(at("x/y")), at("x/y")), ErrorCode::kNotFound);
  for (const char* name : {"d/a", "d/a/b"}) {
    EXPECT_EQ(
        code(system_->sync_folder(at(name)), at(name)),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        code(system_->list(at(name)).status(), at(name)),
        ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(system_->sync_folder(at("d")).ok());
  EXPECT_EQ(code(system_->sync_folder(at("x")), at("x")), ErrorCode::kNotFound);
}

TEST_P(FileSystems, TakeAnyBytesInNames) {
  std::vector<std::string> names = {
      " ", "a\nb", "\xff\xfe", "ü", "-rf", "..x", std::string(255, 'n')};
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    make_file(*system_, at(name), name);
  }
  EXPECT_EQ(system_->list(root_).value(), names);
  for (const std::string& name : names) {
    EXPECT_EQ(text_of(*system_, at(name)), name);
  }
  for (const std::string& name :
       {std::string(256, 'n'), std::string("a\0b", 3)}) {
    EXPECT_EQ(
        system_->create(at(name)).status().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        system_->create_folder(at(name)).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        system_->facts(at(name)).status().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(system_->remove(at(name)).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        system_->rename(at(" "), at(name)).code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(system_->list(root_).value(), names);
}

TEST_P(FileSystems, TellFactsThatChangeWithTheFile) {
  const auto file = make_file(*system_, at("a"), "12345");
  const FileFacts first = system_->facts(at("a")).value();
  EXPECT_EQ(first.kind, FileFacts::Kind::kFile);
  EXPECT_EQ(first.size, Bytes(5));
  EXPECT_EQ(file->facts().value().inode, first.inode);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("x")).ok());
  const FileFacts second = system_->facts(at("a")).value();
  EXPECT_GT(second.modified_ns, first.modified_ns);
  EXPECT_GT(second.changed_ns, first.changed_ns);
  make_file(*system_, at("b"), "12345");
  EXPECT_NE(system_->facts(at("b")).value().inode, first.inode);
  EXPECT_EQ(system_->facts(root_).value().kind, FileFacts::Kind::kFolder);
  EXPECT_EQ(
      code(system_->facts(at("c")).status(), at("c")), ErrorCode::kNotFound);
  EXPECT_GT(system_->free_space(root_).value(), Bytes(0));
  EXPECT_EQ(
      code(system_->free_space(at("c")).status(), at("c")),
      ErrorCode::kNotFound);
}

TEST_P(FileSystems, GiveRoomBackWhereAFileIsPunched) {
  const std::string text(64 * 1024, 'x');
  const auto file = make_file(*system_, at("a"), text);
  ASSERT_TRUE(file->sync().ok());
  const Bytes before = file->facts().value().allocated;
  const Status punched = file->punch(Bytes(5000), Bytes(40'000));
  ASSERT_TRUE(punched.ok()) << punched.text();
  ASSERT_TRUE(file->sync().ok());
  std::string expected = text;
  std::fill_n(expected.begin() + 5000, 40'000, '\0');
  EXPECT_EQ(text_of(*file), expected);
  // Pages 2 to 9 lie wholly in the hole.
  EXPECT_LE(file->facts().value().allocated, before - Bytes(8 * 4096));
  ASSERT_TRUE(file->punch(Bytes(60'000), Bytes(100'000)).ok());
  EXPECT_EQ(file->facts().value().size, Bytes(64 * 1024)) << "size is kept";
  EXPECT_TRUE(file->punch(Bytes(0), Bytes(0)).ok());
  EXPECT_EQ(
      code(file->punch(Bytes(-4096), Bytes(8192)), at("a")),
      ErrorCode::kInvalidArgument);
}

HOLDFAST_EACH_FILE_SYSTEM(FileSystems);

} // namespace
} // namespace holdfast
