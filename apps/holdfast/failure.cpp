// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "failure.h"

#include <new>

#include "console.h"
#include "errors.h"

namespace holdfast::app {

int told(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const UserError& error) {
    complain(error.what());
    return kMisused;
  } catch (const std::bad_alloc&) {
    complain("expected enough memory, got none");
    return kFailed;
  } catch (const std::exception& error) {
    complain(error.what());
    return kFailed;
  } catch (...) {
    complain("expected to end normally, got an unknown failure");
    return kFailed;
  }
}

} // namespace holdfast::app
