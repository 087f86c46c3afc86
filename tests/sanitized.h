// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a test runs under a sanitizer, where it takes ten times as long: long
// loops are shorter there, and the plain build runs them whole.
#pragma once

namespace holdfast::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

} // namespace holdfast::test
