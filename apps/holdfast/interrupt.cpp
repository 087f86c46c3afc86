// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "interrupt.h"

#include <csignal>

#include "errors.h"

namespace holdfast::app {

namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
  last_signal.store(signal);
  interrupted.store(true);
}

} // namespace

InterruptFlag::InterruptFlag() {
  interrupted = false;
  last_signal = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptFlag::~InterruptFlag() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& InterruptFlag::raised() const {
  return interrupted;
}

int InterruptFlag::exit_code() const {
  return raised() ? 128 + last_signal.load() : kOk;
}

} // namespace holdfast::app
