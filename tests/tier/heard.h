// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A listener that adds up what it hears of a tier. Threads: the tier's.

#pragma once

#include <memory>
#include <vector>

#include "holdfast/tier/disk_tier.h"

namespace holdfast::test {

class Heard : public TierListener {
 public:
  explicit Heard(DiskTier& tier) : listening_(tier.listen(*this)) {}
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  void removed(const Removed& removed) override {
    all.add(removed);
  }
  void lost(const Lost& lost) override {
    images.insert(images.end(), lost.images.begin(), lost.images.end());
  }
  void set_aside() override {
    ++manifests;
  }

  Removed all;
  std::vector<Extent> images; // that were lost
  int manifests = 0; // that were set aside

 private:
  const std::shared_ptr<const void> listening_;
};

} // namespace holdfast::test
