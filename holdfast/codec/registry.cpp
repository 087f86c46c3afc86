// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <mutex>

#include "holdfast/base/check.h"
#include "holdfast/codec/affine.h"
#include "holdfast/codec/codec.h"
#include "holdfast/codec/codec_names.h"
#include "holdfast/codec/dense.h"
#include "holdfast/codec/turbo.h"

namespace holdfast {

namespace {

// One line a codec.
std::vector<const Codec*> built_in() {
  static const std::unique_ptr<const Codec> codecs[] = {
      std::make_unique<DenseCodec>(DenseFormat::kBf16),
      std::make_unique<DenseCodec>(DenseFormat::kF16),
      std::make_unique<DenseCodec>(DenseFormat::kF32),
      std::make_unique<AffineCodec>(8, 64),
      std::make_unique<AffineCodec>(8, 32),
      std::make_unique<AffineCodec>(8, 128),
      std::make_unique<AffineCodec>(6, 64),
      std::make_unique<AffineCodec>(6, 32),
      std::make_unique<AffineCodec>(6, 128),
      std::make_unique<AffineCodec>(5, 64),
      std::make_unique<AffineCodec>(5, 32),
      std::make_unique<AffineCodec>(5, 128),
      std::make_unique<AffineCodec>(4, 64),
      std::make_unique<AffineCodec>(4, 32),
      std::make_unique<AffineCodec>(4, 128),
      std::make_unique<AffineCodec>(3, 64),
      std::make_unique<AffineCodec>(3, 32),
      std::make_unique<AffineCodec>(3, 128),
      std::make_unique<AffineCodec>(2, 64),
      std::make_unique<AffineCodec>(2, 32),
      std::make_unique<AffineCodec>(2, 128),
      std::make_unique<TurboCodec>(8),
      std::make_unique<TurboCodec>(5),
      std::make_unique<TurboCodec>(4),
      std::make_unique<TurboCodec>(3),
      std::make_unique<TurboCodec>(2),
  };
  std::vector<const Codec*> result;
  for (const auto& codec : codecs) {
    result.push_back(codec.get());
  }
  return result;
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
  const std::string_view usual_group = "g64";
  if (name.starts_with('q') && name.ends_with(usual_group) &&
      name.find('g') == name.size() - usual_group.size()) {
    name.remove_suffix(usual_group.size()); // "q8g64" is "q8"
  }
  for (const Codec* codec : all_codecs()) {
    if (codec->name() == name) {
      return codec;
    }
  }
  return Status(
      ErrorCode::kInvalidArgument,
      "[find_codec] expected one of " + all_codec_names() + ", got \"" +
          std::string(name) + "\"");
}

std::string all_codec_names() {
  std::string names;
  for (const Codec* codec : all_codecs()) {
    names += (names.empty() ? "" : ", ") + codec->name();
  }
  return names;
}

std::string names_of(const Codec& keys, const Codec& values) {
  const std::string first = keys.name();
  const std::string second = values.name();
  return first == second ? first : first + "/" + second;
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
