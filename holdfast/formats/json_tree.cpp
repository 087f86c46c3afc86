// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/json_tree.h"

#include "holdfast/base/quoted_text.h"

namespace holdfast {
namespace {

constexpr size_t kMostDepth = 64;

} // namespace

nlohmann::json JsonTree::take() {
  if (!document_.is_object()) {
    complain("expected a JSON object, got another value");
  }
  return std::move(document_);
}

void JsonTree::complain(const std::string& text) const {
  throw Error(ErrorCode::kCorrupt, file_ + ": " + text);
}

bool JsonTree::key(string_t& key) {
  if (open_.back()->contains(key)) {
    complain("expected each member once, got " + quoted_text(key) + " again");
  }
  keys_.back() = key;
  return true;
}

nlohmann::json* JsonTree::add(nlohmann::json value) {
  if (open_.empty()) {
    document_ = std::move(value);
    return &document_;
  }
  nlohmann::json& parent = *open_.back();
  if (parent.is_object()) {
    return &(parent[keys_.back()] = std::move(value));
  }
  parent.push_back(std::move(value));
  return &parent.back();
}

bool JsonTree::put(nlohmann::json value) {
  add(std::move(value));
  return true;
}

bool JsonTree::open(nlohmann::json value) {
  if (open_.size() == kMostDepth) {
    complain("expected at most 64 values in one another, got more");
  }
  open_.push_back(add(std::move(value)));
  keys_.emplace_back();
  return true;
}

bool JsonTree::close() {
  open_.pop_back();
  keys_.pop_back();
  return true;
}

bool JsonTree::parse_error(
    size_t position,
    const std::string&,
    const nlohmann::json::exception&) {
  complain("expected JSON, got an error at byte " + std::to_string(position));
}

} // namespace holdfast
