// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/power_loss.h"

namespace holdfast {

namespace {

// One in four draws keeps all, one none, so that clean outcomes occur too.
enum class Mood { kNone, kAll, kMixed };

Mood mood(uint64_t seed, uint64_t what) {
  switch (draw(seed, what) % 4) {
    case 0:
      return Mood::kNone;
    case 1:
      return Mood::kAll;
    default:
      return Mood::kMixed;
  }
}

uint64_t draw_of(uint64_t seed, int64_t sector) {
  return draw(seed, static_cast<uint64_t>(sector + 8));
}

/// In [0, below).
int64_t whole(uint64_t drawn, int64_t below) {
  return static_cast<int64_t>(drawn % static_cast<uint64_t>(below));
}

} // namespace

uint64_t draw(uint64_t seed, uint64_t what) {
  // The finish of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
  // Number Generators, 2014).
  uint64_t z = seed + (what + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

MemoryBytes::Survives
survival(PowerLoss loss, uint64_t number, const MemoryBytes& file) {
  const uint64_t seed = draw(loss.seed, number);
  const int64_t changes = file.changes();
  const int64_t last = changes - 1;
  const auto [first, sectors] = file.last_sectors();
  switch (loss.keep) {
    case PowerLoss::Keep::kNothing:
      return [](int64_t, int64_t) { return false; };
    case PowerLoss::Keep::kEverything:
      return [](int64_t, int64_t) { return true; };
    case PowerLoss::Keep::kSome:
      break;
    case PowerLoss::Keep::kTornPrefix:
      return [=, end = first + whole(draw(seed, 2), sectors + 1)](
                 int64_t change, int64_t sector) {
        // The size is written on its own.
        return change < last ||
            (sector < 0 ? draw(seed, 1) % 2 == 0 : sector < end);
      };
    case PowerLoss::Keep::kTornSectors:
      return [=](int64_t change, int64_t sector) {
        return change < last || draw_of(seed, sector) % 2 == 0;
      };
  }
  const Mood file_mood = mood(seed, 1);
  if (file_mood != Mood::kMixed) {
    return [=](int64_t, int64_t) { return file_mood == Mood::kAll; };
  }
  return [=](int64_t change, int64_t sector) {
    return change < whole(draw_of(seed, sector), changes + 1);
  };
}

bool name_survives(PowerLoss loss, int64_t number, int64_t changes) {
  if (loss.keep != PowerLoss::Keep::kSome) {
    return loss.keep != PowerLoss::Keep::kNothing;
  }
  const Mood all = mood(loss.seed, 3);
  if (all != Mood::kMixed) {
    return all == Mood::kAll;
  }
  // Half of the devices keep a journal and thus the first so many, the others
  // any.
  return draw(loss.seed, 4) % 2 == 0
      ? number < whole(draw(loss.seed, 5), changes + 1)
      : draw_of(loss.seed, number) % 2 == 0;
}

} // namespace holdfast
