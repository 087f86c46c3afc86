// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <mutex>

#include "holdfast/base/check.h"
#include "holdfast/codec/codec.h"
#include "holdfast/codec/dense.h"

namespace holdfast {

namespace {

std::vector<const Codec*> built_in() {
  static const DenseCodec bf16(DenseFormat::kBf16);
  static const DenseCodec f16(DenseFormat::kF16);
  static const DenseCodec f32(DenseFormat::kF32);
  return {&bf16, &f16, &f32};
}

struct Registry {
  std::mutex mutex;
  std::vector<const Codec*> codecs = built_in();
};

Registry& registry() {
  static Registry registry;
  return registry;
}

} // namespace

std::vector<const Codec*> all_codecs() {
  const std::lock_guard lock(registry().mutex);
  return registry().codecs;
}

Result<const Codec*> find_codec(std::string_view name) {
  std::string known;
  for (const Codec* codec : all_codecs()) {
    if (codec->name() == name) {
      return codec;
    }
    known += (known.empty() ? "" : ", ") + codec->name();
  }
  return Status(
      ErrorCode::kInvalidArgument,
      "[find_codec] expected one of " + known + ", got \"" + std::string(name) +
          "\"");
}

CodecRegistration::CodecRegistration(const Codec* codec) : codec_(codec) {
  expect(codec != nullptr, "[register_codec] expected a codec, got null");
  const std::lock_guard lock(registry().mutex);
  for (const Codec* other : registry().codecs) {
    if (other->name() == codec->name() || other->id() == codec->id()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[register_codec] expected a name and an id of its own, got \"" +
              codec->name() + "\", \"" + codec->id() + "\" beside \"" +
              other->name() + "\", \"" + other->id() + "\"");
    }
  }
  registry().codecs.push_back(codec);
}

CodecRegistration::~CodecRegistration() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().codecs, codec_);
}

} // namespace holdfast
