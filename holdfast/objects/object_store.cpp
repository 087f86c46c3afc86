// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object_store.h"

#include <cstring>
#include <utility>
#include <vector>

#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace

// One text for both: the space's length, the space, the key.
RecordKey record_key(const ObjectKey& key) {
  static const auto kNoTokens = std::make_shared<const std::vector<int32_t>>();
  std::string name(kLengthBytes, '\0');
  store_le<uint64_t>(
      std::as_writable_bytes(std::span(name)), 0, key.space.size());
  return {name + key.space + key.key, kNoTokens};
}

ObjectKey object_key(const RecordKey& key) {
  const auto size = load_le<uint64_t>(std::as_bytes(std::span(key.space)), 0);
  return {
      key.space.substr(kLengthBytes, size),
      key.space.substr(kLengthBytes + size)};
}

class ObjectStore::Content : public RecordContent {
 public:
  explicit Content(InRam what) : what_(std::move(what)) {}
  Bytes bytes() const override {
    return what_.object.held();
  }
  const InRam& what() const {
    return what_;
  }

 private:
  const InRam what_;
};

ObjectStore::ObjectStore(DiskTier& disk, Find find, OnDisk on_disk)
    : disk_(disk), find_(std::move(find)), on_disk_(std::move(on_disk)) {}

Result<std::shared_ptr<const RecordContent>>
ObjectStore::make(const RecordKey& key) {
  std::optional<InRam> found = find_(object_key(key));
  if (!found) {
    return Status(
        ErrorCode::kNotFound,
        "[objects] expected an object in RAM to write, got none: evicted");
  }
  return std::shared_ptr<const RecordContent>(
      std::make_shared<Content>(std::move(*found)));
}

Status ObjectStore::store(
    const RecordKey& key,
    uint64_t,
    const RecordContent& content) {
  const auto& what = static_cast<const Content&>(content).what();
  const ObjectKey name = object_key(key);
  const ObjectToStore object{
      .space = name.space,
      .key = name.key,
      .bytes = what.object.bytes(),
      .cost = what.cost};
  const Status stored = disk_.put_objects({&object, 1}).status();
  if (stored.ok()) {
    on_disk_(name, what.object);
  }
  return stored;
}

bool ObjectStore::is_durable(const RecordKey& key, uint64_t) {
  const ObjectKey name = object_key(key);
  const std::optional<InRam> found = find_(name);
  if (!found) {
    return false;
  }
  const Result<MappedImage> stored = disk_.object(name.space, name.key);
  if (!stored.ok() || !same(stored.value().bytes(), found->object.bytes()) ||
      !stored.value().intact() || !found->object.intact()) {
    return false;
  }
  on_disk_(name, found->object);
  return true;
}

// An object is its own record: no other one has its bytes.
bool ObjectStore::is_covered(const RecordKey&) {
  return false;
}

} // namespace holdfast
