// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where each plane lies inside a block image.
//
// An image holds kBlockTokens positions of every layer of one group: layer by
// layer; within a layer head by head; within a head plane by plane (the keys'
// planes, then the values'). Planes start at multiples of 64 bytes and an image
// is a whole number of 4 KiB pages. Immutable value; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast {

/// Positions of a block.
inline constexpr int64_t kBlockTokens = 64;
/// Of the order of planes that this file describes; part of every signature.
inline constexpr int kImageLayoutVersion = 1;

/// One array of a codec, for one head of one layer over kBlockTokens positions.
struct PlaneSpec {
  std::string name; // "codes", "scales", ...
  Bytes bytes;
};

/// The planes of one layer, the same for each of its heads.
struct LayerPlanes {
  int64_t heads = 0;
  std::vector<PlaneSpec> planes;
};

class ImageLayout {
 public:
  explicit ImageLayout(const std::vector<LayerPlanes>& layers);

  /// The whole image, padding included.
  Bytes bytes() const {
    return bytes_;
  }
  int64_t layers() const {
    return static_cast<int64_t>(layers_.size());
  }
  /// The offset of a plane. `layer` counts within the group. Throws on an index
  /// out of range.
  Bytes offset(int64_t layer, int64_t head, int64_t plane) const;
  /// From each plane's start to the next one's, in order; the last goes to the
  /// image's end. What a checksum a plane covers.
  std::vector<Bytes> plane_strides() const;
  /// From one head's planes to the next head's in that layer.
  Bytes head_stride(int64_t layer) const;

 private:
  struct Layer {
    Bytes offset;
    Bytes head_stride;
    int64_t heads;
    std::vector<Bytes> planes; // from the head's start
  };
  std::vector<Layer> layers_;
  Bytes bytes_;
};

} // namespace holdfast
