// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/resumable_run.h"

#include <charconv>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/resume_fields.h"

namespace holdfast {

namespace {

Continuation begin_attempt(PrefixCache& cache, const ResumableOptions& with) {
  expect(
      cache.continuations() != nullptr,
      "[resume] expected a cache with a disk, got none");
  expect(
      !with.key.empty() && with.key.size() <= kMaxGenerationKey,
      "[resume] expected a key of 1 to 1024 bytes, got another length");
  expect(
      with.every_tokens >= 1 && with.every > Clock::Duration::zero() &&
          with.last_wait >= Clock::Duration::zero() && with.clock != nullptr,
      "[resume] expected an interval of at least a token, of more than no "
      "time, a wait of no less, and a clock, got another");
  return cache.continuations()->begin(with.key).value();
}

/// Names with a dot first are ours.
constexpr std::string_view kPointPart = ".resume";
constexpr uint32_t kPointVersion = 1;

} // namespace

Result<ResumePoint> ResumableRun::point_of(const RecordBody& body) {
  const RecordBody::Part* part = body.find(kPointPart);
  if (!part) {
    return Status(
        ErrorCode::kCorrupt,
        "[resume] expected a checkpoint with a resume point, got none");
  }
  if (part->version != kPointVersion) {
    return Status(
        ErrorCode::kUnsupported,
        "[resume] expected a checkpoint of version 1, got " +
            std::to_string(part->version));
  }
  return decode_resume_point(part->bytes);
}

ResumableRun::ResumableRun(PrefixCache& cache, ResumableOptions options)
    : cache_(cache),
      options_(std::move(options)),
      attempt_(begin_attempt(cache_, options_)),
      now_(options_.clock->now()),
      saved_(now_) {
  if (cache_.continuations()->can_restore(options_.key)) {
    read();
  }
}

void ResumableRun::read() {
  Result<RecordBody> body = cache_.checkpoint_body(options_.key);
  if (body.status().code() == ErrorCode::kNotFound) {
    return;
  }
  Result<ResumePoint> point =
      body.ok() ? point_of(body.value()) : Result<ResumePoint>(body.status());
  if (point.status().code() == ErrorCode::kCorrupt) {
    damage_ = point.status().text();
    return;
  }
  point_ = std::move(point).value();
  attachments_ = std::move(body).value();
  attachments_.remove(kPointPart);
}

void ResumableRun::attach(std::string_view name, RecordBody::Part part) {
  expect(
      !name.starts_with("."),
      "[resume] expected an attachment's name without a dot first, got one "
      "with it");
  attachments_.set(name, std::move(part));
}

std::optional<uint64_t> ResumableRun::seed() const {
  const std::string* text = point_ ? point_->find("seed") : nullptr;
  uint64_t seed = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), seed).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return seed;
}

void ResumableRun::begin(
    std::vector<ResumePoint::Field> fields,
    std::span<const std::vector<int32_t>> prompts) {
  if (point_) {
    require_same_run(*point_, fields, prompts);
  }
  fields_ = std::move(fields);
}

bool ResumableRun::due(int64_t tokens) {
  tokens_ += tokens;
  now_ = options_.clock->now();
  return (tokens_ >= options_.every_tokens || now_ - saved_ >= options_.every ||
          catches_up_) &&
      last_.expired();
}

void ResumableRun::save(
    std::vector<ResumeRow> rows,
    std::span<const std::vector<int32_t>> paths) {
  Checkpoint checkpoint;
  for (const ResumeRow& row : rows) {
    const int64_t generated = std::ssize(row.ids);
    checkpoint.generated += Position(generated);
    checkpoint.tokens += Position(std::ssize(row.prompt) + generated);
  }
  RecordBody body = attachments_;
  body.set(
      kPointPart,
      {.version = kPointVersion,
       .bytes = encode({.fields = fields_, .rows = std::move(rows)})});
  checkpoint.content = cache_.checkpoint(paths, body);
  last_ = checkpoint.content;
  // Where the disk has no room for blocks, they become no fewer.
  const int64_t left = checkpoint.content->left();
  catches_up_ = left > 0 && (left_ == 0 || left < left_);
  left_ = left;
  tokens_ = 0;
  saved_ = now_;
  // Dropped for want of room, the next one that is due takes its place.
  attempt_.checkpoint(std::move(checkpoint));
}

bool ResumableRun::make_room() {
  return flush(cache_.clock().now() + options_.last_wait).durable;
}

void ResumableRun::complete() {
  attempt_.complete();
}

ContinuationReport ResumableRun::flush(std::optional<Clock::Moment> until) {
  return cache_.continuations()->flush(until);
}

} // namespace holdfast
