// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_syntax.h"

#include <algorithm>

#include "holdfast/formats/jinja_lexer.h"

namespace holdfast::jinja {

namespace {

void deepen(Expression& parent, const Expression& child) {
  if (child.nesting >= kMostNesting) {
    refuse_unsupported(
        parent.line,
        "expected expressions nested at most " + std::to_string(kMostNesting) +
            " deep, got one more");
  }
  parent.nesting = std::max(parent.nesting, child.nesting + 1);
}

} // namespace

void adopt(Expression& parent, ExpressionPtr child) {
  if (child) {
    deepen(parent, *child);
  }
  parent.children.push_back(std::move(child));
}

void adopt(Expression& parent, std::string name, ExpressionPtr child) {
  deepen(parent, *child);
  parent.named.emplace_back(std::move(name), std::move(child));
}

} // namespace holdfast::jinja
