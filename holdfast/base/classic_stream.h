// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A stream for text that is stored and compared: the process's locale does not
// group its digits nor choose its decimal point. Any thread.

#pragma once

#include <locale>
#include <sstream>

namespace holdfast {

inline std::ostringstream classic_stream() {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  return stream;
}

} // namespace holdfast
