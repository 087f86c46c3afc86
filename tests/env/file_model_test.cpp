// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random calls on the system's files and on those in memory: every answer is
// the same.

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file_bytes.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "temp_folder.h"

namespace holdfast {
namespace {

constexpr int kCalls = 65'536;

/// One file system with the files that the script has open on it.
struct Side {
  std::shared_ptr<FileSystem> system;
  std::string root;
  std::map<int, std::unique_ptr<File>> open;
};

/// A call's arguments, the same for both sides.
struct Call {
  int verb;
  std::string a;
  std::string b;
  int slot;
  int64_t offset;
  int64_t length;
  bool flag;
};

std::string said(const Status& status) {
  return name(status.code());
}

std::string said(const Result<FileFacts>& facts) {
  if (!facts.ok()) {
    return said(facts.status());
  }
  const FileFacts& f = facts.value();
  const bool file = f.kind == FileFacts::Kind::kFile;
  return file ? numbered("file ", f.size.get()) : "folder";
}

std::string on_names(Side& side, const Call& call) {
  FileSystem& system = *side.system;
  const std::string a = side.root + call.a;
  const std::string b = side.root + call.b;
  switch (call.verb) {
    case 0: {
      auto file = system.create(a);
      const std::string text = said(file.status());
      if (file.ok()) {
        side.open[call.slot] = std::move(file).value();
      }
      return text;
    }
    case 1: {
      auto file = system.open(
          a,
          call.flag ? FileSystem::Access::kRead
                    : FileSystem::Access::kReadWrite);
      const std::string text = said(file.status());
      if (file.ok()) {
        side.open[call.slot] = std::move(file).value();
      }
      return text;
    }
    case 2:
      return said(system.rename(a, b));
    case 3:
      return said(system.remove(a));
    case 4:
      return said(system.create_folder(a));
    case 5: // seldom: the system takes milliseconds
      return call.offset % 16 == 0 ? said(system.sync_folder(a)) : "none";
    case 6: {
      const auto names = system.list(a);
      std::string text = said(names.status());
      for (size_t i = 0; names.ok() && i < names.value().size(); ++i) {
        text.append(" ").append(names.value()[i]);
      }
      return text;
    }
    case 7:
      return said(system.facts(a));
    default:
      return said(system.lock(a, FileSystem::Wait::kNo).status());
  }
}

std::string on_file(File& file, const Call& call) {
  switch (call.verb) {
    case 9:
    case 10:
      return said(file.write(
          Bytes(call.offset),
          bytes_of(std::string(
              static_cast<size_t>(call.length),
              static_cast<char>('a' + call.offset % 26)))));
    case 11:
    case 12: {
      std::string text(static_cast<size_t>(call.length), '-');
      const Status status = file.read(
          Bytes(call.offset),
          std::as_writable_bytes(std::span(text.data(), text.size())));
      return said(status) + (status.ok() ? " " + text : "");
    }
    case 13:
      return said(file.truncate(Bytes(call.offset)));
    case 14:
      return said(file.punch(Bytes(call.offset), Bytes(call.length)));
    case 15: {
      const auto mapped =
          file.map(Bytes(call.offset / 4096 * 4096), Bytes(call.length));
      return said(mapped.status()) + " " +
          (mapped.ok()
               ? std::string(
                     reinterpret_cast<const char*>(mapped.value().get()),
                     static_cast<size_t>(call.length))
               : "");
    }
    default:
      return said(file.facts());
  }
}

std::string answer(Side& side, const Call& call) {
  if (call.verb < 9) {
    return on_names(side, call);
  }
  const auto file = side.open.find(call.slot);
  return file == side.open.end() ? "none" : on_file(*file->second, call);
}

/// Everything below a folder: names, and the files' texts.
std::string tree(FileSystem& system, const std::string& path) {
  std::string text;
  for (const std::string& name : names_in(system, path)) {
    const std::string inner = path + "/" + name;
    const bool folder =
        system.facts(inner).value().kind == FileFacts::Kind::kFolder;
    text += name;
    if (folder) {
      text.append("{").append(tree(system, inner)).append("}");
    } else {
      text.append("=").append(text_of(system, inner)).append(";");
    }
  }
  return text;
}

TEST(FileModel, RandomCallsSayTheSameInMemoryAndOnTheSystem) {
  const TempFolder temp;
  Side posix{posix_file_system(), temp.path(), {}};
  Side memory{MemoryFileSystem::make(), "/root", {}};
  memory.system->create_folder("/root").check();
  std::mt19937 chance(7);
  const auto pick = [&](int below) {
    return static_cast<int>(chance() % below);
  };
  const std::string names[] = {"/a", "/b", "/c", "/d", "/e"};
  std::map<std::string, int> seen;
  for (int i = 0; i < kCalls; ++i) {
    const auto path = [&] {
      std::string text = names[pick(5)];
      while (pick(3) == 0) {
        text += names[pick(5)];
      }
      return pick(200) == 0 ? std::string() : text;
    };
    const Call call{
        .verb = pick(17),
        .a = path(),
        .b = path(),
        .slot = pick(6),
        .offset = pick(20'000),
        .length = pick(9'000),
        .flag = pick(2) == 0};
    // The folder that all is in stays where it is.
    if (call.a.empty() || (call.b.empty() && call.verb == 2)) {
      if (call.verb == 2 || call.verb == 3) {
        continue;
      }
    }
    const std::string expected = answer(posix, call);
    ASSERT_EQ(answer(memory, call), expected)
        << "call " << i << ", verb " << call.verb << " of " << call.a << " "
        << call.b << " " << call.offset << "+" << call.length;
    ++seen
        [std::to_string(call.verb) + " " +
         expected.substr(0, expected.find(' '))];
    if (i % 1024 == 0) {
      ASSERT_EQ(
          tree(*memory.system, memory.root), tree(*posix.system, posix.root))
          << i;
    }
  }
  ASSERT_EQ(tree(*memory.system, memory.root), tree(*posix.system, posix.root));
  // The script went everywhere: every verb succeeded, and failed in its ways.
  for (int verb = 0; verb < 16; ++verb) {
    EXPECT_GT(seen[std::to_string(verb) + (verb == 7 ? " file" : " ok")], 20)
        << verb;
  }
  EXPECT_GT(seen["2 invalid"] + seen["2 not"], 50);
  EXPECT_GT(seen["11 corrupt"], 50);
}

} // namespace
} // namespace holdfast
