// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/memory_tree.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

constexpr size_t kMaxName = 255;
constexpr size_t kMaxPath = 4095;

Status refusal(const std::string& path, const char* expected) {
  return Status(ErrorCode::kInvalidArgument, path + ": expected " + expected);
}

/// The parts of a path, without empty ones and ".".
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part(path.data() + begin, end - begin);
    if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

} // namespace

MemoryTree::MemoryTree()
    : room_used_(std::make_shared<std::atomic<int64_t>>(0)) {
  root_ = use_of(new_node(true));
}

MemoryTree::~MemoryTree() {
  for (const auto& folder : folders_) {
    if (const NodePtr node = folder.lock()) {
      const auto seen = std::exchange(node->seen, {});
      const auto stored = std::exchange(node->stored, {});
    }
  }
}

MemoryTree::NodePtr MemoryTree::new_node(bool folder) {
  auto node = std::make_shared<MemoryNode>();
  node->folder = folder;
  node->number = ++nodes_;
  if (folder) {
    folders_.push_back(node);
  }
  return node;
}

MemoryUsePtr MemoryTree::use_of(NodePtr node) const {
  room_used_->fetch_add(node->bytes.allocated());
  return std::make_shared<MemoryUse>(std::move(node), room_used_);
}

Result<MemoryTree::Place> MemoryTree::find(const std::string& path) const {
  if (path.empty()) {
    return Status(ErrorCode::kNotFound, "\"\": no such file");
  }
  if (path.size() > kMaxPath || path.find('\0') != std::string::npos) {
    return refusal(path, "a path");
  }
  std::vector<Place> way{{nullptr, "", root_}};
  for (std::string& part : parts_of(path)) {
    const MemoryUsePtr here = way.back().use;
    if (here == nullptr) {
      return Status(
          ErrorCode::kNotFound,
          path + ": no folder \"" + way.back().name + "\"");
    }
    if (!here->node().folder) {
      return refusal(path, ("a folder at \"" + way.back().name + "\"").c_str());
    }
    if (part == "..") {
      if (way.size() > 1) {
        way.pop_back();
      }
      continue;
    }
    if (part.size() > kMaxName) {
      return refusal(path, "names of at most 255 bytes");
    }
    const auto& names = here->node().seen;
    const auto found = names.find(part);
    way.push_back(
        {here,
         std::move(part),
         found == names.end() ? nullptr : found->second});
  }
  return std::move(way.back());
}

MemoryUsePtr MemoryTree::add(const Place& place, bool folder) {
  NodePtr node = new_node(folder);
  node->modified_ns = node->changed_ns = tick();
  MemoryUsePtr use = use_of(node);
  place.folder->node().seen[place.name] = use;
  edit({{{place.folder->shared(), place.name, std::move(node)}}});
  return use;
}

void MemoryTree::remove(const Place& place) {
  place.folder->node().seen.erase(place.name);
  edit({{{place.folder->shared(), place.name, nullptr}}});
}

Status MemoryTree::rename(const Place& from, const Place& to) {
  if (from.folder == nullptr || to.folder == nullptr) {
    return refusal("/", "another folder than the root");
  }
  if (from.use == to.use) {
    return {};
  }
  MemoryNode& moved = from.use->node();
  if (to.use != nullptr) {
    if (to.use->node().folder != moved.folder) {
      return refusal(
          to.name, moved.folder ? "a folder to replace" : "a file to replace");
    }
    if (!to.use->node().seen.empty()) {
      return refusal(to.name, "an empty folder to replace");
    }
  }
  const std::function<bool(const MemoryNode&)> holds =
      [&](const MemoryNode& folder) {
        return &folder == &to.folder->node() ||
            std::ranges::any_of(folder.seen, [&](const auto& entry) {
              return entry.second->node().folder && holds(entry.second->node());
            });
      };
  if (moved.folder && holds(moved)) {
    return refusal(to.name, "a place outside the folder that is moved");
  }
  moved.changed_ns = tick();
  const MemoryUsePtr use = from.use;
  from.folder->node().seen.erase(from.name);
  to.folder->node().seen[to.name] = use;
  edit(
      {{{from.folder->shared(), from.name, nullptr},
        {to.folder->shared(), to.name, use->shared()}},
       moved.folder});
  return {};
}

void MemoryTree::edit(Change change) {
  for (const Edit& edit : change.edits) {
    edit.folder->modified_ns = edit.folder->changed_ns = tick();
  }
  changes_.push_back(std::move(change));
}

bool MemoryTree::Touched::any_of(const Change& change) const {
  return std::ranges::any_of(change.edits, [&](const Edit& edit) {
    return names_.contains({edit.folder.get(), edit.name});
  });
}

void MemoryTree::Touched::add(const Change& change) {
  for (const Edit& edit : change.edits) {
    names_.emplace(edit.folder.get(), edit.name);
  }
}

void MemoryTree::sync(MemoryNode& folder) {
  // From the last change to the first: what a wanted one builds on is wanted.
  std::vector<bool> wanted(changes_.size());
  Touched built_on;
  bool all = false;
  for (size_t i = changes_.size(); i-- > 0;) {
    const Change& change = changes_[i];
    wanted[i] = all || built_on.any_of(change) ||
        std::ranges::any_of(change.edits, [&](const Edit& edit) {
                  return edit.folder.get() == &folder;
                });
    if (wanted[i]) {
      built_on.add(change);
      all = all || change.moves_folder;
    }
  }
  std::vector<Change> rest;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (!wanted[i]) {
      rest.push_back(std::move(changes_[i]));
      continue;
    }
    for (Edit& edit : changes_[i].edits) {
      if (edit.node == nullptr) {
        edit.folder->stored.erase(edit.name);
      } else {
        edit.folder->stored[edit.name] = edit.node;
      }
    }
  }
  changes_ = std::move(rest);
}

MemoryTree MemoryTree::after_loss(PowerLoss loss) const {
  std::map<const MemoryNode*, Names> names;
  const auto names_of = [&](const MemoryNode& folder) -> Names& {
    return names.try_emplace(&folder, folder.stored).first->second;
  };
  Touched lost;
  for (size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    const bool builds_on_lost =
        change.moves_folder ? !lost.empty() : lost.any_of(change);
    if (builds_on_lost ||
        !name_survives(
            loss,
            static_cast<int64_t>(i),
            static_cast<int64_t>(changes_.size()))) {
      lost.add(change);
      continue;
    }
    for (const Edit& edit : change.edits) {
      if (edit.node == nullptr) {
        names_of(*edit.folder).erase(edit.name);
      } else {
        names_of(*edit.folder)[edit.name] = edit.node;
      }
    }
  }
  MemoryTree after;
  const std::function<void(const MemoryNode&, MemoryNode&)> fill =
      [&](const MemoryNode& from, MemoryNode& to) {
        for (const auto& [name, node] : names_of(from)) {
          const NodePtr copy = after.new_node(node->folder);
          copy->number = node->number;
          copy->modified_ns = node->modified_ns;
          copy->changed_ns = node->changed_ns;
          copy->bytes = MemoryBytes(node->bytes.after_loss(
              survival(loss, node->number, node->bytes)));
          fill(*node, *copy);
          to.stored[name] = copy;
          to.seen[name] = after.use_of(copy);
        }
      };
  fill(root_->node(), after.root_->node());
  after.nodes_ = nodes_;
  after.time_ = time_ + 1;
  return after;
}

} // namespace holdfast
