#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Writes holdfast/formats/jinja_printable.h: what str.isprintable() refuses.

    tools/make_printable.py > holdfast/formats/jinja_printable.h

By the Unicode tables of the python that runs it; the file names their version.
Code points that no version has assigned yet count as unprintable.
"""

import unicodedata


def main():
    ranges = []
    for code in range(0x110000):
        if not chr(code).isprintable():
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    cells = [f"{{{first:#x}, {last:#x}}}" for first, last in ranges]
    lines, line = [], " "
    for cell in cells:
        if len(line) + len(cell) + 2 > 80:
            lines.append(line)
            line = " "
        line += f" {cell},"
    lines.append(line)
    print(f"""\
// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Code points that python's repr() escapes: Unicode {unicodedata.unidata_version}. Made by
// tools/make_printable.py; do not edit. Any thread.

#pragma once

#include <cstdint>

namespace holdfast::jinja {{

struct CodeRange {{
  uint32_t first;
  uint32_t last;
}};

// clang-format off
inline constexpr CodeRange kUnprintable[] = {{""")
    print("\n".join(lines))
    print("""\
};
// clang-format on

} // namespace holdfast::jinja""")


if __name__ == "__main__":
    main()
