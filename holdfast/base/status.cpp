// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/status.h"

namespace holdfast {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "ok";
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kOutOfBudget:
      return "out of budget";
    case ErrorCode::kIo:
      return "i/o";
    case ErrorCode::kStale:
      return "stale";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

void Status::check() const {
  if (!ok()) {
    throw Error(code_, text_);
  }
}

} // namespace holdfast
