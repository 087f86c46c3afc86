// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The innermost scope of a render while it lives. One thread.

#pragma once

#include <utility>

#include "holdfast/formats/jinja_render.h"

namespace holdfast::jinja {

class Render::Entered {
 public:
  Entered(Render& render, Scope* parent)
      : render_(render),
        scope_{parent},
        outer_(std::exchange(render.scope_, &scope_)) {}
  ~Entered() {
    render_.scope_ = outer_;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  Scope& scope() {
    return scope_;
  }

 private:
  Render& render_;
  Scope scope_;
  Scope* const outer_;
};

} // namespace holdfast::jinja
