// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_target.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <unordered_map>
#include <utility>

#include "console.h"
#include "errors.h"
#include "holdfast/env/posix_file_system.h"
#include "state_opening.h"
#include "state_place.h"

namespace holdfast::app {

namespace {

constexpr size_t kShortest = 8; // bytes of a short name

/// Sizes of nodes, and who shares them.
class NodeSizes : public TierVisitor {
 public:
  void begin() override {
    nodes_.clear();
    records.clear();
  }
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode node) override {
    Node& added = nodes_[node.id];
    added.parent = node.parent;
    added.pinned = node.pinned;
    for (const StoredImage& image : node.images) {
      added.bytes += image.extent.bytes;
    }
    if (const auto parent = nodes_.find(node.parent); parent != nodes_.end()) {
      ++parent->second.children;
    }
  }
  void record(StoredRecord record) override {
    if (const auto leaf = nodes_.find(record.leaf); leaf != nodes_.end()) {
      ++leaf->second.records;
    }
    records.push_back(std::move(record));
  }

  /// Of the path to a record's leaf, and of what goes with the record.
  void measure(ListedRecord& record) const {
    record.bytes = record.own_bytes = record.stored.body.bytes;
    bool own = true;
    for (auto at = nodes_.find(record.stored.leaf); at != nodes_.end();
         at = nodes_.find(at->second.parent)) {
      const Node& node = at->second;
      const bool leaf = at->first == record.stored.leaf;
      own = own && !node.pinned && node.children == (leaf ? 0 : 1) &&
          node.records == (leaf ? 1 : 0);
      record.bytes += node.bytes;
      record.own_bytes += own ? node.bytes : Bytes();
    }
  }

  std::vector<StoredRecord> records;

 private:
  struct Node {
    NodeId parent;
    Bytes bytes;
    int64_t children = 0;
    int64_t records = 0;
    bool pinned = false;
  };
  std::unordered_map<NodeId, Node> nodes_;
};

size_t common(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Names in order: who begins like a name stands beside it.
void shorten(std::vector<ListedRecord>& records) {
  std::ranges::sort(records, {}, [](const ListedRecord& record) {
    return std::pair(record.stored.name.name, record.stored.name.space);
  });
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string& name = records[i].stored.name.name;
    size_t needed = 0;
    for (const size_t other : {i - 1, i + 1}) {
      if (other < records.size()) {
        needed =
            std::max(needed, common(name, records[other].stored.name.name) + 1);
      }
    }
    // Only digests are cut: a name that somebody gave is shown whole.
    records[i].short_name = records[i].stored.name.space == "text"
        ? name.substr(0, std::max(needed, kShortest))
        : name;
  }
}

} // namespace

void StateTarget::add_to(CLI::App& verb) {
  not_empty(verb.add_option(
                "--state",
                folder,
                "The folder (default: the one that generate uses)"))
      ->type_name("DIR");
  verb.add_flag("--json", json, "As objects, one a line");
}

std::string StateTarget::path() const {
  const std::string path =
      folder.empty() ? default_state_folder().value_or("") : folder;
  if (path.empty()) {
    throw UserError("--state: expected a folder, got none and no home folder");
  }
  std::error_code error;
  if (!std::filesystem::is_directory(tier_folder(path), error)) {
    throw UserError(
        "--state: expected a folder with kept state, got " + path +
        ", which has none");
  }
  return path;
}

std::unique_ptr<DiskTier> StateTarget::open() const {
  return open_tier(
      {.folder = tier_folder(path()),
       .max_bytes = Bytes(std::numeric_limits<int64_t>::max()),
       .files = posix_file_system(),
       .clock = system_clock()});
}

void RecordTarget::add_to(CLI::App& verb, const char* what) {
  StateTarget::add_to(verb);
  // A callback, as for add_repeated.
  constexpr int kMostNames = 10000;
  verb.add_option(
          "name",
          [this](const CLI::results_t& given) {
            names = given;
            return true;
          },
          what)
      ->type_name("NAME")
      ->expected(1, kMostNames);
}

std::vector<ListedRecord> list_records(DiskTier& tier) {
  NodeSizes sizes;
  tier.load(sizes).check();
  std::vector<ListedRecord> result;
  for (StoredRecord& record : sizes.records) {
    ListedRecord& listed = result.emplace_back();
    listed.stored = std::move(record);
    sizes.measure(listed);
    // A body that is damaged, or of a later encoding, has nothing to tell.
    if (const auto bytes = tier.record_body(listed.stored.name); bytes.ok()) {
      if (const auto body = RecordBody::parse(bytes.value()); body.ok()) {
        listed.facts = facts_of(body.value());
      }
    }
  }
  shorten(result);
  std::ranges::stable_sort(
      result, std::ranges::greater(), [](const ListedRecord& record) {
        return record.stored.stored_ns;
      });
  return result;
}

RecordName find_record(DiskTier& tier, const std::string& typed) {
  const auto records = tier.records();
  std::vector<RecordName> found;
  for (const StoredRecord& record : records.value()) {
    const RecordName& name = record.name;
    const std::string whole = name.space + "/" + name.name;
    if (typed == whole) {
      return name;
    }
    if (name.name.starts_with(typed) || whole.starts_with(typed)) {
      found.push_back(name);
    }
  }
  const auto same = [&](const RecordName& name) { return name.name == typed; };
  if (std::ranges::count_if(found, same) == 1) {
    return *std::ranges::find_if(found, same);
  }
  if (found.size() == 1 && !typed.empty()) {
    return found.front();
  }
  if (found.empty() || typed.empty()) {
    throw UserError(
        "expected the name of a record, or how it begins, got \"" + typed +
        "\" (see holdfast state ls)");
  }
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    list += (i == 0 ? " " : ", ") + shown(found[i]);
  }
  if (found.size() > kShown) {
    list += " and " + std::to_string(found.size() - kShown) + " more";
  }
  throw UserError(
      "expected what one record alone begins with, got \"" + typed +
      "\", as do" + list);
}

std::string shown(const RecordName& name) {
  return printable(name.space + "/" + name.name);
}

} // namespace holdfast::app
