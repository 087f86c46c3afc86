// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a user says about keys and values, and what a layer gets:
// "KEYS[/VALUES][@START]", such as "q8", "q8/t3", "q4g32@1024", "t4@never".
// Values; any thread.

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/base/strong.h"
#include "holdfast/codec/codec.h"

namespace holdfast {

/// A start that no sequence reaches.
inline constexpr Position kNeverStart{std::numeric_limits<int64_t>::max()};

/// Codecs of keys and values.
struct KvCodecs {
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  bool operator==(const KvCodecs&) const = default;
};

/// A row is stored with `first` below `start` committed positions and with
/// `then` from there on. Where start is 0 or first equals then, there is one
/// phase.
struct KvChoice {
  KvCodecs first;
  KvCodecs then;
  Position start;

  bool operator==(const KvChoice&) const = default;
  bool converts() const {
    return start > Position(0) && start != kNeverStart && first != then;
  }
};

/// Without VALUES they are stored as the keys; without START from position 0
/// on. Until START a dense codec stays itself and every other is bf16. START is
/// a number of positions, "never" or "inf". Text that chooses one phase loses
/// its START: "bf16@9" equals "bf16". kInvalidArgument otherwise, listing the
/// codecs known.
Result<KvChoice> parse_kv_choice(std::string_view text);
/// The shortest text that parse_kv_choice() reads back as the same choice.
std::string to_string(const KvChoice& choice);

/// One layer, as a policy sees it.
struct KvLayer {
  std::string group; // "full", "sliding"
  int64_t key_dim = 0; // 0: stores no keys and values of its own
  int64_t value_dim = 0;
};

/// A choice for each layer: its own, else its group's, else the usual one.
struct KvPolicy {
  KvChoice usual;
  std::map<std::string, KvChoice, std::less<>> groups;
  std::map<int64_t, KvChoice> layers;

  const KvChoice& of(int64_t layer, std::string_view group) const;
  /// Ok; kInvalidArgument where a layer or a group is named that the model does
  /// not have or that stores no keys and values (it is recurrent, or reads a
  /// donor's); kUnsupported where a codec of either phase does not fit the head
  /// size of a layer, naming the layer and a codec that does.
  Status fits(std::span<const KvLayer> model) const;
};

} // namespace holdfast
