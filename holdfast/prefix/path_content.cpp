// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/path_content.h"

#include <utility>

namespace holdfast {

PathContent::PathContent(
    PrefixTree& tree,
    ScopeHandle scope,
    std::shared_ptr<const WantedPath> wanted)
    : tree_(tree),
      scope_(scope),
      wanted_(std::move(wanted)),
      write_(tree_.begin_record(scope_, wanted_->path(), wanted_->fresh)),
      bytes_(wanted_->bytes()) {
  for (const NodeToStore& node : write_.batch.nodes) {
    for (const ImageToStore& image : node.images) {
      bytes_ += image.block.bytes();
    }
  }
}

PathContent::~PathContent() {
  end();
}

void PathContent::end() const {
  if (!std::exchange(ended_, true)) {
    tree_.not_stored(write_.batch);
  }
}

void PathContent::renew() const {
  end();
  write_ = tree_.begin_record(scope_, wanted_->path(), wanted_->fresh);
  ended_ = false;
}

void PathContent::set_stored(const Stored& stored) const {
  if (!std::exchange(ended_, true)) {
    tree_.stored(write_.batch, stored);
  }
}

} // namespace holdfast
