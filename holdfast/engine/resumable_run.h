// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A call of Generator::run under a key: what an interrupted run of the key left
// in the cache's disk tier, and the checkpoints of this one.
//
// While it lives no other process runs the key. Its end is no completion: what
// is on disk, or waits for it, stays. Threads: the state's engine thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/env/clock.h"
#include "holdfast/formats/resume_point.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/record_body.h"

namespace holdfast {

struct ResumableOptions {
  std::string key; // 1 to 1024 bytes
  /// A checkpoint is due after so many tokens of a prompt or steps of the
  /// texts, and after so much time, whichever comes first. One that is still
  /// being written puts the next one off.
  int64_t every_tokens = 64;
  Clock::Duration every = std::chrono::seconds(2);
  /// How long the last checkpoint of a run that ends early waits for those that
  /// are being written.
  Clock::Duration last_wait = std::chrono::seconds(10);
  std::shared_ptr<Clock> clock = system_clock();
};

class ResumableRun {
 public:
  /// What a checkpoint's body says. kCorrupt, kUnsupported.
  static Result<ResumePoint> point_of(const RecordBody& body);

  /// The cache, which has a disk, outlives it. Throws kInvalidArgument for
  /// options out of range, kUnsupported where another process runs the key or a
  /// later version left it, and what the disk says.
  ResumableRun(PrefixCache& cache, ResumableOptions options);
  ResumableRun(const ResumableRun&) = delete;
  ResumableRun& operator=(const ResumableRun&) = delete;

  /// What an interrupted run left, or nothing.
  const std::optional<ResumePoint>& point() const {
    return point_;
  }
  /// The seed of that run.
  std::optional<uint64_t> seed() const;
  /// Why what it left cannot be read: then there is no point. Else empty.
  const std::string& damage() const {
    return damage_;
  }

  /// What travels with every checkpoint, beside the texts; of an interrupted
  /// run's, what came with its last.
  const RecordBody& attachments() const {
    return attachments_;
  }
  /// From the next checkpoint on, in place of one of that name. Throws
  /// kInvalidArgument for a name that is empty, too long or begins with ".".
  void attach(std::string_view name, RecordBody::Part part);

  /// The texts are where they should be: nothing is left to resume. Does
  /// nothing the second time.
  void complete();
  /// Waits for the checkpoint or the removal that is under way.
  ContinuationReport flush(std::optional<Clock::Moment> until = {});

  // Generator::run's:

  const PrefixCache& cache() const {
    return cache_;
  }
  /// Throws kUnsupported where the point is of another run.
  void begin(
      std::vector<ResumePoint::Field> fields,
      std::span<const std::vector<int32_t>> prompts);
  /// Counts tokens that were fed; true where a checkpoint is due: also where
  /// the former one left blocks, as long as they become fewer.
  bool due(int64_t tokens);
  /// Waits for what is being written, so that the last checkpoint finds room;
  /// not for a disk that does not answer. True where all of it was written.
  bool make_room();
  /// Queues a checkpoint. paths: [row] the tokens that a row holds.
  void save(
      std::vector<ResumeRow> rows,
      std::span<const std::vector<int32_t>> paths);
  /// True where the last checkpoint left blocks, fewer than the one before.
  bool catches_up() const {
    return catches_up_;
  }
  /// Blocks that it left.
  int64_t left() const {
    return left_;
  }

 private:
  void read();

  PrefixCache& cache_;
  const ResumableOptions options_;
  Continuation attempt_;
  std::optional<ResumePoint> point_;
  std::string damage_;
  RecordBody attachments_;
  std::vector<ResumePoint::Field> fields_;
  int64_t tokens_ = 0; // since the last checkpoint
  Clock::Moment now_; // when it was last asked for
  Clock::Moment saved_;
  int64_t left_ = 0; // blocks, by the last checkpoint
  bool catches_up_ = false;
  std::weak_ptr<const RecordContent> last_; // alive while it is being written
};

} // namespace holdfast
