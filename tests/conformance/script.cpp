// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "script.h"

#include <ostream>
#include <utility>

namespace holdfast::conformance {

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static const char* const names[] = {
      "add",
      "append",
      "speculate",
      "roll back",
      "fork",
      "trim",
      "cancel",
      "reorder",
      "filter",
      "extract",
      "merge",
      "take",
      "snapshot",
      "adopt",
      "replay"};
  return out << names[static_cast<int>(operation.verb)] << "(" << operation.a
             << ", " << operation.b << ", " << operation.c << ")";
}

namespace {

rc::Gen<std::vector<Operation>> scripts_of(rc::Gen<Verb> verbs) {
  const auto number = rc::gen::inRange<uint32_t>(0, 1u << 20);
  return rc::gen::container<std::vector<Operation>>(rc::gen::build<Operation>(
      rc::gen::set(&Operation::verb, std::move(verbs)),
      rc::gen::set(&Operation::a, number),
      rc::gen::set(&Operation::b, number),
      rc::gen::set(&Operation::c, number)));
}

} // namespace

rc::Gen<std::vector<Operation>> scripts() {
  return scripts_of(rc::gen::weightedElement<Verb>(
      {{2, Verb::kAdd},
       {12, Verb::kAppend},
       {6, Verb::kSpeculate},
       {2, Verb::kRollBack},
       {2, Verb::kFork},
       {3, Verb::kTrim},
       {1, Verb::kCancel},
       {1, Verb::kReorder},
       {1, Verb::kFilter},
       {1, Verb::kExtract},
       {1, Verb::kMerge},
       {1, Verb::kTake},
       {1, Verb::kSnapshot},
       {1, Verb::kAdopt},
       {4, Verb::kReplay}}));
}

rc::Gen<std::vector<Operation>> scripts_of_forks() {
  return scripts_of(rc::gen::weightedElement<Verb>(
      {{10, Verb::kAppend},
       {10, Verb::kSpeculate},
       {2, Verb::kRollBack},
       {4, Verb::kFork},
       {1, Verb::kTrim},
       {2, Verb::kCancel},
       {1, Verb::kReorder},
       {1, Verb::kSnapshot},
       {1, Verb::kAdopt},
       {4, Verb::kReplay}}));
}

} // namespace holdfast::conformance
