// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Images for tests of the prefix index: each position's slot holds a stamp of
// all that a cold run's state there depends on, so that an image which is not
// the prompt's own is found out.

#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/block/layout.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/chains.h"
#include "holdfast/prefix/prefix_tree.h"

namespace holdfast {

inline constexpr int64_t kRigImage = 4096;

/// A text that owns its tokens and marks.
struct Text {
  std::vector<int32_t> tokens;
  std::vector<TokenMark> marks = {};

  Path path() const {
    return {tokens, marks};
  }
  Text first(int64_t count) const {
    Text part{{tokens.begin(), tokens.begin() + count}, {}};
    for (const TokenMark& mark : marks) {
      if (mark.begin.get() < count) {
        part.marks.push_back(mark);
      }
    }
    return part;
  }
  int64_t size() const {
    return std::ssize(tokens);
  }
};

inline Text text_of(int64_t count, int32_t seed = 0) {
  Text text;
  for (int64_t i = 0; i < count; ++i) {
    text.tokens.push_back(static_cast<int32_t>(i * 31 + seed * 1009));
  }
  return text;
}

inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

/// [position] what the state there depends on.
inline std::vector<uint64_t> stamps(const Text& text, ImageSlot slot) {
  std::vector<uint64_t> result;
  uint64_t hash = mix(static_cast<uint64_t>(slot.group), 77);
  hash = mix(hash, static_cast<uint64_t>(slot.phase));
  size_t next = 0;
  for (int64_t p = 0; p < text.size(); ++p) {
    if (next < text.marks.size() && text.marks[next].begin.get() == p) {
      const TokenMark& mark = text.marks[next++];
      hash = mix(hash, static_cast<uint64_t>(mark.bidirectional) + 5);
      hash = mix(hash, static_cast<uint64_t>((mark.end - mark.begin).get()));
      for (const char byte : mark.digest) {
        hash = mix(hash, static_cast<uint64_t>(byte));
      }
      for (int64_t q = p; mark.bidirectional && q < mark.end.get(); ++q) {
        hash = mix(hash, static_cast<uint64_t>(text.tokens[size_t(q)]));
      }
    }
    hash = mix(hash, static_cast<uint64_t>(text.tokens[size_t(p)]) + 3);
    result.push_back(hash);
  }
  return result;
}

inline Signature signature(const std::string& name, const std::string& value) {
  return Signature(std::vector<Signature::Field>{{name, value}});
}

/// One layer group that keeps all.
inline std::vector<GroupRule> full_rules() {
  return {GroupRule{}};
}

struct PrefixRig {
  static constexpr int32_t kAllGroups = std::numeric_limits<int32_t>::max();

  explicit PrefixRig(std::vector<GroupRule> given, int64_t image = kRigImage)
      : rules(std::move(given)),
        pool(std::vector<Bytes>(
            static_cast<size_t>(kind({kAllGroups, 0})),
            Bytes(image))) {}

  static Scope scope(const std::string& model = "a") {
    return Scope(signature("model", model));
  }
  /// One a group and phase, in order.
  int64_t kind(ImageSlot slot) const {
    int64_t kind = slot.phase;
    for (int32_t group = 0; group < std::ssize(rules); ++group) {
      kind += group < slot.group ? rules[size_t(group)].phases() : 0;
    }
    return kind;
  }
  BlockRef image(const Text& text, int64_t block, ImageSlot slot) {
    BlockRef ref = pool.allocate(kind(slot));
    const auto all = stamps(text, slot);
    const int64_t begin = block * kBlockTokens;
    const int64_t end = std::min(begin + kBlockTokens, text.size());
    std::memcpy(
        ref.mutable_image(),
        all.data() + begin,
        static_cast<size_t>(end - begin) * sizeof(uint64_t));
    ref.seal();
    return ref;
  }
  /// All images of a text, in the phases given.
  std::vector<GivenImage>
  images(const Text& text, std::vector<int32_t> phases = {}) {
    phases.resize(rules.size());
    std::vector<GivenImage> result;
    const int64_t blocks = ceil_div(text.size(), kBlockTokens);
    for (int64_t block = 0; block < blocks; ++block) {
      for (int32_t group = 0; group < std::ssize(rules); ++group) {
        const ImageSlot slot{group, phases[static_cast<size_t>(group)]};
        result.push_back({BlockIndex(block), slot, image(text, block, slot)});
      }
    }
    return result;
  }
  /// Every image in RAM that was given out is the prompt's own up to `length`.
  static bool own(const Usable& found, const Text& prompt) {
    for (const auto& group : found.images) {
      for (const UsableImage& image : group) {
        const auto all = stamps(prompt, image.slot);
        const int64_t begin = image.block.get() * kBlockTokens;
        const int64_t end = std::min(begin + kBlockTokens, found.length.get());
        if (image.ram &&
            std::memcmp(
                image.ram.image(),
                all.data() + begin,
                static_cast<size_t>(end - begin) * sizeof(uint64_t)) != 0) {
          return false;
        }
      }
    }
    return true;
  }
  /// What State::assemble would make of it; disk images as blank ones.
  CapturedRow row(const Usable& found) {
    std::vector<std::vector<BlockRef>> held;
    for (const auto& group : found.images) {
      auto& blocks = held.emplace_back();
      for (const UsableImage& image : group) {
        blocks.push_back(
            image.ram ? image.ram : pool.allocate(kind(image.slot)));
        blocks.back().seal();
      }
    }
    return assemble(rules, found.facts, held);
  }

  std::vector<GroupRule> rules;
  BlockPool pool;
};

/// A disk tier's answers, without a disk.
struct RigDisk {
  Stored store(const WriteBatch& batch) {
    Stored result;
    for (const NodeToStore& node : batch.nodes) {
      result.nodes.push_back(NodeId(++last_node));
      auto& images = result.images.emplace_back();
      for (const ImageToStore& image : node.images) {
        images.push_back({SegmentId(1), Bytes(offset), image.block.bytes()});
        offset += image.block.bytes().get();
      }
    }
    return result;
  }
  int64_t last_node = 0;
  int64_t offset = 4096;
};

} // namespace holdfast
