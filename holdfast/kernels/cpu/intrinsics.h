// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The compiler's intrinsics, without g++ 12's warnings about the undefined
// vectors inside them. For kernel files of an instruction set alone.

#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
