// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/disk_rate.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "holdfast/env/direct_file.h"
#include "holdfast/env/pages.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

namespace {

constexpr int64_t kPiece = int64_t{1} << 20;
constexpr int kInFlight[] = {1, 4, 8, 16};

struct Piece {
  const DirectFile* file;
  Bytes offset;
  size_t bytes;
};

/// call(piece, buffer) -> Status for each, so many threads at a time. The
/// buffers hold no zeros.
template <class P, class F>
void each_piece(const std::vector<P>& pieces, int threads, F call) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  Status failure;
  const auto work = [&](int number) {
    const auto memory = allocate_pages(kPiece);
    for (int64_t i = 0; i < kPiece; ++i) {
      memory.get()[i] = static_cast<std::byte>(i * 7 + (i >> 12) + number);
    }
    for (size_t i = next++; i < pieces.size(); i = next++) {
      const Status status = call(pieces[i], memory.get());
      if (!status.ok()) {
        const std::lock_guard lock(mutex);
        failure = status;
        next = pieces.size();
      }
    }
  };
  std::vector<std::jthread> team;
  for (int number = 0; number < threads; ++number) {
    team.emplace_back(work, number);
  }
  team.clear(); // joins
  failure.check();
}

/// The best of several numbers of requests at a time.
template <class F>
DiskRate best_rate(int64_t bytes, F seconds_with) {
  DiskRate best;
  for (const int in_flight : kInFlight) {
    const double rate =
        static_cast<double>(bytes) / std::max(1e-9, seconds_with(in_flight));
    if (rate > best.bytes_s) {
      best = {in_flight, rate};
    }
  }
  return best;
}

} // namespace

DiskRate disk_read_rate(const std::vector<std::string>& paths) {
  std::vector<DirectFile> files;
  files.reserve(paths.size()); // pieces point into it
  std::vector<Piece> pieces;
  int64_t all = 0;
  for (const std::string& path : paths) {
    forget_cached(path).check();
    files.push_back(DirectFile::open(path).value());
    // What lies beyond the last whole page is left out.
    const int64_t size = files.back().size().value().get() /
        DirectFile::kAlignment * DirectFile::kAlignment;
    for (int64_t at = 0; at < size; at += kPiece) {
      pieces.push_back(
          {&files.back(),
           Bytes(at),
           static_cast<size_t>(std::min(kPiece, size - at))});
    }
    all += size;
  }
  return best_rate(all, [&](int in_flight) {
    return time_of([&] {
      each_piece(pieces, in_flight, [](const Piece& piece, std::byte* into) {
        return piece.file->read(piece.offset, {into, piece.bytes});
      });
    });
  });
}

DiskRate disk_write_rate(const std::string& folder, Bytes bytes) {
  const std::string path = folder + "/disk_rate";
  const auto files = posix_file_system();
  std::vector<int64_t> pieces;
  for (int64_t at = 0; at + kPiece <= bytes.get(); at += kPiece) {
    pieces.push_back(at);
  }
  const auto seconds_with = [&](int in_flight) {
    struct Removal {
      FileSystem& files;
      const std::string& path;
      ~Removal() {
        (void)files.remove(path).ok();
      }
    } const removal{*files, path};
    DirectFile file = DirectFile::create(path).value();
    return time_of([&] {
      each_piece(pieces, in_flight, [&](int64_t at, const std::byte* from) {
        return file.write(Bytes(at), {from, static_cast<size_t>(kPiece)});
      });
      file.sync().check();
    });
  };
  return best_rate(std::ssize(pieces) * kPiece, seconds_with);
}

} // namespace holdfast::measure
