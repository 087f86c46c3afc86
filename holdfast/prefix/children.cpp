// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/children.h"

#include <algorithm>

#include "holdfast/prefix/node.h"

namespace holdfast {

namespace {

auto place_of(const std::vector<Node*>& order, const BlockText& text) {
  return std::partition_point(
      order.begin(), order.end(), [&](const Node* node) {
        return compare(node->text(), text) < 0;
      });
}

Children::Match
nearest(const std::vector<Node*>& order, const BlockText& text) {
  Children::Match best;
  const auto look = [&](Node* node) {
    const int64_t run = common_run(node->text(), text);
    if (run > best.run) {
      best = {node, run};
    }
  };
  const auto at = place_of(order, text);
  if (at != order.end()) {
    look(*at);
  }
  if (at != order.begin()) {
    look(*std::prev(at));
  }
  return best;
}

/// Puts the child where it belongs, or takes it away.
void set(std::vector<Node*>& order, Node* child, bool there) {
  const auto at = place_of(order, child->text());
  const bool found = at != order.end() && *at == child;
  if (there && !found) {
    order.insert(at, child);
  } else if (!there && found) {
    order.erase(at);
  }
}

} // namespace

Node* Children::find(const BlockText& text) const {
  if (only_) {
    return only_->tokens.size() == text.tokens.size() &&
            common_run(only_->text(), text) == text.size()
        ? only_
        : nullptr;
  }
  const auto at = place_of(ordered_, text);
  return at != ordered_.end() && compare((*at)->text(), text) == 0 ? *at
                                                                   : nullptr;
}

Children::Match Children::longest(const BlockText& text) const {
  return nearest(ordered_, text);
}

Children::Match Children::longest(const BlockText& text, ImageSlot slot) const {
  if (by_slot_) {
    const auto found = by_slot_->find(slot);
    return found == by_slot_->end() ? Match() : nearest(found->second, text);
  }
  Match best;
  for (Node* child : ordered_) {
    if (child->has(slot)) {
      const int64_t run = common_run(child->text(), text);
      best = run > best.run ? Match{child, run} : best;
    }
  }
  return best;
}

std::vector<Node*> Children::prefixes(const BlockText& text) const {
  std::vector<Node*> result;
  BlockText rest = text;
  while (rest.size() > 0) {
    // A prefix of `rest` comes before it, and is one of all between.
    const auto at = place_of(ordered_, rest);
    if (at != ordered_.end() && rest.size() < text.size() &&
        common_run((*at)->text(), rest) == rest.size() &&
        (*at)->text().size() == rest.size()) {
      result.push_back(*at);
    }
    if (at == ordered_.begin()) {
      break;
    }
    const BlockText before = (*std::prev(at))->text();
    const int64_t run = common_run(before, rest);
    // Marks beyond the run stay in `rest`: no prefix reaches them.
    rest.tokens = rest.tokens.first(
        static_cast<size_t>(run < rest.size() ? run : rest.size() - 1));
  }
  return result;
}

void Children::add(Node* child) {
  set(ordered_, child, true);
  set_only();
  if (by_slot_) {
    refresh(child);
  } else if (ordered_.size() >= kMany) {
    by_slot_ = std::make_unique<std::map<ImageSlot, Order>>();
    for (Node* each : ordered_) {
      refresh(each);
    }
  }
}

void Children::remove(Node* child) {
  set(ordered_, child, false);
  set_only();
  if (by_slot_) {
    for (auto& [slot, order] : *by_slot_) {
      set(order, child, false);
    }
  }
}

void Children::set_only() {
  only_ = ordered_.size() == 1 ? ordered_.front() : nullptr;
}

void Children::refresh(Node* child) {
  if (!by_slot_) {
    return;
  }
  for (const Image& image : child->images) {
    set((*by_slot_)[image.slot], child, image.available());
  }
}

} // namespace holdfast
