// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_signals.h"

#include <csignal>

namespace holdfast::app {

namespace {

std::atomic<bool> any{false};
std::atomic<bool> term{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_chat_signal(int signal) {
  if (signal == SIGTERM) {
    term.store(true);
  }
  any.store(true);
}

} // namespace

ChatSignals::ChatSignals() {
  any = false;
  term = false;
  struct sigaction action = {};
  action.sa_handler = on_chat_signal; // without SA_RESTART: read() ends
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

ChatSignals::~ChatSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& ChatSignals::raised() const {
  return any;
}

void ChatSignals::clear() {
  any = term.load();
}

bool ChatSignals::terminated() const {
  return term;
}

} // namespace holdfast::app
