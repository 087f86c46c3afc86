// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What reads work out of a step's plan: made for the first layer that asks, and
// the same for all that are alike in what it follows from.
//
// Invariant: what was made never changes nor moves while the memo lives.
// Threads: get() the engine thread alone; what it gave, any.

#pragma once

#include <cstddef>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace holdfast {

class StepMemo {
 public:
  /// The T for which fits(const T&); make() gives it where there is none yet.
  template <class T>
  const T& get(const auto& fits, const auto& make) {
    const std::type_index type(typeid(T));
    for (const Entry& entry : entries_) {
      if (entry.type == type) {
        const T& made = *static_cast<const T*>(entry.made.get());
        if (fits(made)) {
          return made;
        }
      }
    }
    auto made = std::make_shared<const T>(make());
    const T& result = *made;
    entries_.push_back({type, std::move(made)});
    return result;
  }
  /// Things made.
  size_t size() const {
    return entries_.size();
  }

 private:
  struct Entry {
    std::type_index type;
    std::shared_ptr<const void> made;
  };
  std::vector<Entry> entries_; // few: groups times phases
};

} // namespace holdfast
