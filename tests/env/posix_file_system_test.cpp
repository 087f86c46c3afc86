// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What only a real system has: links, pipes, umask, other processes, full
// disks.

#include "holdfast/env/posix_file_system.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_bytes.h"
#include "temp_folder.h"

namespace holdfast {
namespace {

using Access = FileSystem::Access;
using Wait = FileSystem::Wait;

/// Runs `work` in a child process and gives its result, below 100.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 99;
    try {
      result = work();
    } catch (...) {
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

class PosixFiles : public testing::Test {
 protected:
  TempFolder folder_;
  std::shared_ptr<FileSystem> system_ = posix_file_system();
};

// Whoever opens a folder takes that word for another version's.
TEST_F(PosixFiles, ACallThatTheSystemLacksIsAnErrorOfTheDevice) {
  const Status status = system_->sync_folder("/proc");
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_NE(status.text().find("not supported"), std::string::npos)
      << status.text();
}

TEST_F(PosixFiles, NeverFollowALinkInTheLastPart) {
  make_file(*system_, folder_ / "a", "target");
  ASSERT_TRUE(system_->create_folder(folder_ / "d").ok());
  ASSERT_EQ(::symlink("a", (folder_ / "link").c_str()), 0);
  ASSERT_EQ(::symlink("d", (folder_ / "to_d").c_str()), 0);
  ASSERT_EQ(::symlink("nothing", (folder_ / "dangling").c_str()), 0);
  for (const std::string name : {"link", "to_d", "to_d/", "dangling"}) {
    const std::string path = folder_ / name;
    for (const Status& status :
         {system_->open(path, Access::kRead).status(),
          system_->open(path, Access::kReadWrite).status(),
          system_->create(path).status(),
          system_->create_folder(path),
          system_->sync_folder(path),
          system_->list(path).status(),
          system_->lock(path, Wait::kNo).status()}) {
      EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << status.text();
      EXPECT_NE(status.text().find(path), std::string::npos);
    }
    EXPECT_EQ(system_->facts(path).value().kind, FileFacts::Kind::kOther);
    EXPECT_TRUE(system_->free_space(path).ok());
  }
  EXPECT_EQ(
      system_->facts(folder_ / "nothing").status().code(),
      ErrorCode::kNotFound);
  ASSERT_TRUE(system_->rename(folder_ / "a", folder_ / "link").ok());
  EXPECT_EQ(text_of(*system_, folder_ / "link"), "target") << "replaced";
  ASSERT_TRUE(system_->remove(folder_ / "to_d").ok());
  EXPECT_TRUE(system_->facts(folder_ / "d").ok());
}

TEST_F(PosixFiles, RefuseWhatIsNoFileWithoutWaiting) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(
      address.sun_path,
      (folder_ / "socket").c_str(),
      sizeof(address.sun_path) - 1);
  ASSERT_EQ(
      ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  for (const std::string& path :
       {folder_ / "pipe", folder_ / "socket", std::string("/dev/null")}) {
    for (const Status& status :
         {system_->open(path, Access::kRead).status(),
          system_->open(path, Access::kReadWrite).status(),
          system_->lock(path, Wait::kYes).status()}) {
      EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << status.text();
    }
    EXPECT_EQ(system_->facts(path).value().kind, FileFacts::Kind::kOther);
  }
  ::close(socket);
}

TEST_F(PosixFiles, ArePrivateWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0277, 0777}) {
    const mode_t before = ::umask(mask);
    const std::string name = std::to_string(mask);
    const auto file = system_->create(folder_ / ("f" + name));
    const Status made = system_->create_folder(folder_ / ("d" + name));
    const auto lock = system_->lock(folder_ / ("l" + name), Wait::kNo);
    ::umask(before);
    ASSERT_TRUE(file.ok() && made.ok() && lock.ok());
    const auto mode = [&](const char* kind) {
      return system_->facts(folder_ / (kind + name)).value().mode & 0777u;
    };
    EXPECT_EQ(mode("f"), 0600u) << name;
    EXPECT_EQ(mode("d"), 0700u) << name;
    EXPECT_EQ(mode("l"), 0600u) << name;
  }
}

TEST_F(PosixFiles, DoNotPassTheirDescriptorsToOtherPrograms) {
  const auto file = make_file(*system_, folder_ / "a", "x");
  const auto lock = system_->lock(folder_ / "l", Wait::kNo);
  const std::string command =
      "ls -l /proc/self/fd | grep -q '" + folder_.path() + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << "found some";
}

TEST_F(PosixFiles, KeepNoDescriptorOfWhatWasRefusedOrClosed) {
  const auto open = [&] {
    return system_->list("/proc/self/fd").value().size();
  };
  const size_t before = open();
  for (int i = 0; i < 20; ++i) {
    (void)system_->open(folder_.path(), Access::kRead);
    (void)system_->list(folder_.path());
    (void)system_->sync_folder(folder_.path());
    (void)system_->free_space(folder_.path());
    const auto held = system_->lock(folder_ / "l", Wait::kNo);
    EXPECT_FALSE(system_->lock(folder_ / "l", Wait::kNo).ok());
    make_file(*system_, folder_ / "a", "x");
    EXPECT_FALSE(system_->create(folder_ / "a").ok());
    ASSERT_TRUE(system_->remove(folder_ / "a").ok());
  }
  EXPECT_EQ(open(), before);
}

TEST_F(PosixFiles, SayWhenAFolderIsReadOnly) {
  make_file(*system_, folder_ / "a", "readable");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0444), 0);
  // Who may do anything must become somebody who may not.
  const int failed = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) {
      return 50;
    }
    const Status statuses[] = {
        system_->create(folder_ / "b").status(),
        system_->create_folder(folder_ / "d"),
        system_->rename(folder_ / "a", folder_ / "b"),
        system_->remove(folder_ / "a"),
        system_->open(folder_ / "a", Access::kReadWrite).status(),
        system_->lock(folder_ / "l", Wait::kNo).status()};
    for (int i = 0; i < 6; ++i) {
      if (statuses[i].code() != ErrorCode::kIo) {
        return i + 1;
      }
    }
    const bool reads = text_of(*system_, folder_ / "a") == "readable" &&
        system_->lock(folder_ / "a", Wait::kNo).ok();
    return reads ? 0 : 20;
  });
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_EQ(failed, 0);
}

TEST_F(PosixFiles, SayWhenTheDeviceIsFullAndGoOnWhenThereIsRoom) {
  const std::string small = folder_ / "small";
  ASSERT_TRUE(system_->create_folder(small).ok());
  constexpr int kNoMount = 60;
  const int result = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 &&
        ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return kNoMount;
    }
    (void)::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m") != 0) {
      return kNoMount;
    }
    const auto early = make_file(*system_, small + "/early", "kept");
    auto big = system_->create(small + "/big").value();
    const std::string text(2 << 20, 'x');
    if (big->write(Bytes(0), bytes_of(text)).code() !=
        ErrorCode::kOutOfBudget) {
      return 1;
    }
    if (system_->free_space(small).value() >= Bytes(4096) ||
        text_of(*early) != "kept") {
      return 2;
    }
    const Status another =
        system_->create(small + "/b").value()->write(Bytes(0), bytes_of("y"));
    if (another.code() != ErrorCode::kOutOfBudget) {
      return 3;
    }
    big.reset();
    system_->remove(small + "/big").check();
    make_durable(*system_, small + "/c", std::string(1 << 19, 'z'));
    return 0;
  });
  if (result == kNoMount) {
    GTEST_SKIP() << "this system lets nobody mount a small device";
  }
  EXPECT_EQ(result, 0);
}

TEST_F(PosixFiles, FailEverySyncAfterOneThatFailed) {
  // A pipe's end cannot be synced: the file is exchanged below its descriptor.
  const auto file = make_file(*system_, folder_ / "a", "x");
  int number = -1;
  for (const std::string& name : names_in(*system_, "/proc/self/fd")) {
    char target[4096] = {};
    const std::string link = "/proc/self/fd/" + name;
    if (::readlink(link.c_str(), target, sizeof(target) - 1) > 0 &&
        folder_ / "a" == target) {
      number = std::stoi(name);
    }
  }
  ASSERT_GE(number, 0);
  ASSERT_TRUE(file->sync().ok());
  const int kept = ::dup(number);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::dup2(ends[1], number), number);
  EXPECT_FALSE(file->sync().ok());
  ASSERT_EQ(::dup2(kept, number), number);
  const Status again = file->sync();
  EXPECT_EQ(again.code(), ErrorCode::kIo) << again.text();
  EXPECT_NE(again.text().find("earlier"), std::string::npos) << again.text();
  for (const int end : {ends[0], ends[1], kept}) {
    ::close(end);
  }
}

TEST_F(PosixFiles, SeeWhatAnotherMappedFileWrites) {
  const auto file = make_file(*system_, folder_ / "a", std::string(4096, 'a'));
  const MappedBytes mapped = file->map(Bytes(0), Bytes(4096)).value();
  ASSERT_TRUE(file->write(Bytes(10), bytes_of("b")).ok());
  EXPECT_EQ(mapped.get()[10], std::byte{'b'});
}

TEST_F(PosixFiles, LockAgainstOtherProcesses) {
  const std::string path = folder_ / "lock";
  auto held = system_->lock(path, Wait::kNo);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(
      in_child([&] {
        return static_cast<int>(system_->lock(path, Wait::kNo).status().code());
      }),
      static_cast<int>(ErrorCode::kOutOfBudget));
  held = Status(ErrorCode::kStale, "released");
  EXPECT_EQ(
      in_child([&] { return system_->lock(path, Wait::kNo).ok() ? 0 : 1; }), 0);
}

TEST_F(PosixFiles, LockAgainWhenTheHolderIsKilled) {
  const std::string path = folder_ / "lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = system_->lock(path, Wait::kNo);
    const char told = held.ok() ? 'y' : 'n';
    (void)!::write(ready[1], &told, 1);
    for (;;) {
      ::pause();
    }
  }
  char told = 0;
  ASSERT_EQ(::read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  EXPECT_FALSE(system_->lock(path, Wait::kNo).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(system_->lock(path, Wait::kNo).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixFiles, KeepALockThatAChildLetsGoOf) {
  const std::string path = folder_ / "lock";
  auto held = system_->lock(path, Wait::kNo);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(
      in_child([&] {
        held = Status(ErrorCode::kStale, "released in the child");
        return 0;
      }),
      0);
  EXPECT_FALSE(system_->lock(path, Wait::kNo).ok());
}

TEST_F(PosixFiles, LetGoOfALockThatAChildStillShares) {
  const std::string path = folder_ / "lock";
  auto held = system_->lock(path, Wait::kNo);
  ASSERT_TRUE(held.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) {
      ::pause();
    }
  }
  held = Status(ErrorCode::kStale, "released");
  EXPECT_TRUE(system_->lock(path, Wait::kNo).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(PosixFiles, WaitForALockThroughSignals) {
  struct sigaction quiet {};
  struct sigaction before {};
  quiet.sa_handler = [](int) {}; // without SA_RESTART: calls end with EINTR
  ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &before), 0);
  auto held = system_->lock(folder_ / "lock", Wait::kNo);
  ASSERT_TRUE(held.ok());
  std::thread waiter([&] {
    const auto lock = system_->lock(folder_ / "lock", Wait::kYes);
    EXPECT_TRUE(lock.ok()) << lock.status().text();
  });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::pthread_kill(waiter.native_handle(), SIGUSR1);
  }
  held = Status(ErrorCode::kStale, "released");
  waiter.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

} // namespace
} // namespace holdfast
