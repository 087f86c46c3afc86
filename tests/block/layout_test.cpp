// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/layout.h"

#include <gtest/gtest.h>

#include "holdfast/base/status.h"

namespace holdfast {
namespace {

LayerPlanes layer(int64_t heads, std::vector<int64_t> sizes) {
  LayerPlanes planes{.heads = heads, .planes = {}};
  for (const int64_t size : sizes) {
    planes.planes.push_back({"plane", Bytes(size)});
  }
  return planes;
}

TEST(ImageLayout, GoesLayerByLayerHeadByHeadPlaneByPlane) {
  const ImageLayout layout({layer(2, {128, 64}), layer(1, {256})});
  EXPECT_EQ(layout.layers(), 2);
  EXPECT_EQ(layout.offset(0, 0, 0), Bytes(0));
  EXPECT_EQ(layout.offset(0, 0, 1), Bytes(128));
  EXPECT_EQ(layout.offset(0, 1, 0), Bytes(192));
  EXPECT_EQ(layout.offset(0, 1, 1), Bytes(320));
  EXPECT_EQ(layout.offset(1, 0, 0), Bytes(384));
  EXPECT_EQ(layout.head_stride(0), Bytes(192));
  EXPECT_EQ(layout.head_stride(1), Bytes(256));
}

TEST(ImageLayout, StartsPlanesAtMultiplesOf64BytesAndEndsWithAWholePage) {
  const ImageLayout layout({layer(3, {1, 65, 64})});
  EXPECT_EQ(layout.offset(0, 0, 1), Bytes(64));
  EXPECT_EQ(layout.offset(0, 0, 2), Bytes(192));
  EXPECT_EQ(layout.head_stride(0), Bytes(256));
  EXPECT_EQ(layout.bytes(), Bytes(4096));
  EXPECT_EQ(ImageLayout({layer(1, {4096})}).bytes(), Bytes(4096));
  EXPECT_EQ(ImageLayout({layer(1, {4097})}).bytes(), Bytes(8192));
}

TEST(ImageLayout, PlanesNeverOverlapAndStayInsideTheImage) {
  const ImageLayout layout({layer(2, {100, 7}), layer(3, {5, 640, 33})});
  const int64_t heads[] = {2, 3};
  const std::vector<int64_t> sizes[] = {{100, 7}, {5, 640, 33}};
  int64_t end = 0;
  for (int64_t l = 0; l < 2; ++l) {
    for (int64_t h = 0; h < heads[l]; ++h) {
      for (size_t p = 0; p < sizes[l].size(); ++p) {
        const int64_t at = layout.offset(l, h, p).get();
        EXPECT_GE(at, end);
        EXPECT_EQ(at % 64, 0);
        end = at + sizes[l][p];
      }
    }
  }
  EXPECT_LE(end, layout.bytes().get());
}

TEST(ImageLayout, RefusesWhatItDoesNotHold) {
  const ImageLayout layout({layer(2, {64})});
  EXPECT_THROW(layout.offset(1, 0, 0), Error);
  EXPECT_THROW(layout.offset(-1, 0, 0), Error);
  EXPECT_THROW(layout.offset(0, 2, 0), Error);
  EXPECT_THROW(layout.offset(0, -1, 0), Error);
  EXPECT_THROW(layout.offset(0, 0, 1), Error);
  EXPECT_THROW(layout.offset(0, 0, -1), Error);
  EXPECT_THROW(layout.head_stride(1), Error);
}

TEST(ImageLayout, RefusesLayersWithoutHeadsPlanesOrBytes) {
  EXPECT_THROW(ImageLayout({}), Error);
  EXPECT_THROW(ImageLayout({layer(0, {64})}), Error);
  EXPECT_THROW(ImageLayout({layer(1, {})}), Error);
  EXPECT_THROW(ImageLayout({layer(1, {0})}), Error);
}

} // namespace
} // namespace holdfast
