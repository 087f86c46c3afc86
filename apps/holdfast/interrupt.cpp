// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "interrupt.h"

#include <csignal>

namespace holdfast::app {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  interrupted.store(true);
}

} // namespace

InterruptFlag::InterruptFlag() {
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

InterruptFlag::~InterruptFlag() {
  std::signal(SIGINT, SIG_DFL);
}

const std::atomic<bool>& InterruptFlag::raised() const {
  return interrupted;
}

} // namespace holdfast::app
