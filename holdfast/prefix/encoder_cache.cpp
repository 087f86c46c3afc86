// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/encoder_cache.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mlx/transforms.h"

#include "holdfast/base/check.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/prefix/tensor_array.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

/// Of its keys' spelling: another spelling, another name.
constexpr const char* kSpace = "encoder.1";

std::string sized(const std::string& text) {
  return std::to_string(text.size()) + ":" + text;
}

std::string raw(const Digest256& digest) {
  return {
      reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

/// A tenant's name is in no key: its digest is.
std::string prefix_of(const std::string& identity, const std::string& salt) {
  expect(
      !identity.empty(),
      "[EncoderCache] expected an encoder's identity, got an empty one");
  return sized(identity) + sized(salt.empty() ? "" : raw(sha256(salt)));
}

/// The features as an object, none where it finds no room.
OpenObject object_of(
    ObjectCache& objects,
    const mx::array& features,
    mx::StreamOrDevice stream) {
  const TensorFacts facts = facts_of(features);
  try {
    OpenObject object = objects.open(stored_bytes(facts));
    copy_elements(features, write_tensor_header(facts, object.bytes()), stream);
    return object;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfBudget) {
      throw;
    }
    return {};
  }
}

} // namespace

EncoderCache::EncoderCache(
    ObjectCache& objects,
    std::string identity,
    const std::string& tenant_salt)
    : objects_(objects), prefix_(prefix_of(identity, tenant_salt)) {}

ObjectKey EncoderCache::key(const EncoderInput& input) const {
  return {kSpace, prefix_ + raw(input.content) + input.parameters};
}

std::vector<ObjectKey>
EncoderCache::keys(std::span<const EncoderInput> inputs) const {
  std::vector<ObjectKey> result;
  for (const EncoderInput& input : inputs) {
    result.push_back(key(input));
  }
  return result;
}

std::optional<mx::array> EncoderCache::array_of(
    const ObjectKey& key,
    const std::optional<Object>& found) {
  if (!found) {
    return std::nullopt;
  }
  Result<mx::array> array = array_over(*found);
  if (!array.ok()) {
    objects_.unreadable(key, *found);
    return std::nullopt;
  }
  return std::move(array).value();
}

std::optional<mx::array> EncoderCache::get(const EncoderInput& input) {
  const ObjectKey name = key(input);
  return array_of(name, objects_.get(name));
}

std::vector<std::optional<mx::array>>
EncoderCache::get_many(std::span<const EncoderInput> inputs) {
  std::vector<std::optional<mx::array>> result;
  for (const EncoderInput& input : inputs) {
    result.push_back(get(input));
  }
  return result;
}

bool EncoderCache::put(
    const EncoderInput& input,
    const mx::array& features,
    int64_t cost,
    mx::StreamOrDevice stream) {
  OpenObject object = object_of(objects_, features, stream);
  if (!object) {
    return false;
  }
  objects_.put(key(input), std::move(object), cost);
  return true;
}

std::vector<mx::array> EncoderCache::get_or_make(
    std::span<const EncoderInput> inputs,
    const Encode& encode,
    mx::StreamOrDevice stream) {
  const std::vector<ObjectKey> names = keys(inputs);
  std::unordered_map<ObjectKey, mx::array, ObjectKeyHash> made;
  const auto make = [&](std::span<const size_t> missing) {
    const Clock::Moment began = objects_.clock().now();
    std::vector<mx::array> features = encode(missing);
    expect(
        features.size() == missing.size(),
        "[EncoderCache] expected an array a missing input, got another number");
    mx::eval(features);
    const int64_t cost = (objects_.clock().now() - began).count() /
        static_cast<int64_t>(missing.size());
    std::vector<MadeObject> result;
    for (size_t j = 0; j < missing.size(); ++j) {
      result.push_back({object_of(objects_, features[j], stream), cost});
      made.insert_or_assign(names[missing[j]], features[j]);
    }
    return result;
  };
  const auto found = objects_.get_or_make(names, make);
  std::vector<std::optional<mx::array>> arrays;
  std::vector<size_t> unreadable;
  for (size_t i = 0; i < names.size(); ++i) {
    arrays.push_back(array_of(names[i], found[i]));
    if (!arrays[i] && !made.contains(names[i])) {
      unreadable.push_back(i);
    }
  }
  // No tensors. Not by the cache again: a disk that does not let them be
  // removed would offer them again.
  if (!unreadable.empty()) {
    std::vector<MadeObject> again = make(unreadable);
    for (size_t j = 0; j < unreadable.size(); ++j) {
      if (again[j].object) {
        objects_.put(
            names[unreadable[j]], std::move(again[j].object), again[j].cost);
      }
    }
  }
  std::vector<mx::array> result;
  for (size_t i = 0; i < names.size(); ++i) {
    result.push_back(arrays[i] ? *arrays[i] : made.at(names[i]));
  }
  return result;
}

bool EncoderCache::intact(std::span<const mx::array> arrays) {
  return std::ranges::all_of(arrays, [](const mx::array& array) {
    return array.size() == 0 || mapping_is_whole(array.data<std::byte>());
  });
}

Status EncoderCache::remove(const EncoderInput& input) {
  return objects_.remove(key(input));
}

} // namespace holdfast
