// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model in parts, "NAME-00001-of-0000N.gguf" and so on: the first holds the
// metadata, each some of the tensors. Every part says how many there are
// (split.count) and which it is (split.no, from 0), the first also how many
// tensors all hold (split.tensors.count). Throws Error on the first fault; all
// parts lie in the folder of the first (env/folder_file.h). One thread.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/formats/gguf.h"

namespace holdfast {

class GgufParts {
 public:
  /// A file, and behind the first of several parts the others.
  static GgufFile open(const std::string& path);
  /// Throws kUnsupported where the file is one of several.
  static void require_whole(const GgufFile& file);

 private:
  /// One file, mapped and parsed.
  static GgufFile open_one(const std::string& path, const std::string& name);
  static void add_part(GgufFile& first, GgufFile part, int index);
  static void index(GgufFile& first);
};

} // namespace holdfast
