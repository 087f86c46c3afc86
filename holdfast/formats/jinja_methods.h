// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Methods of texts, dicts and lists, as python has them. Those that change
// their object are undefined, as in jinja2's immutable sandbox; those that are
// not read here are refused (kUnsupported). Any thread.

#pragma once

#include <string>

#include "holdfast/formats/jinja_callable.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

/// Whether python's object has an attribute of that name.
bool has_attribute(const Value& value, const std::string& name);

/// That attribute, bound to the value.
Value method(const Value& value, const std::string& name);

/// A method of texts, called: `self.name(arguments)`. Throws kNotFound where
/// there is none here.
Value text_method(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance);

/// ASCII alone; refused (kUnsupported) for other letters, whose case is a
/// table.
std::string upper(const std::string& text);
std::string lower(const std::string& text);
std::string capitalize(const std::string& text);

/// Lines by python's str.splitlines().
std::vector<std::string> split_lines(const std::string& text, bool keep_ends);

/// str.replace(); `most` below 0: all.
std::string replace(
    const std::string& text,
    const std::pair<std::string, std::string>& old_and_new,
    int64_t most,
    Allowance& allowance);

} // namespace holdfast::jinja
