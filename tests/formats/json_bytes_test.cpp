// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/formats/json_bytes.h"
#include "holdfast/formats/json_field.h"
#include "holdfast/formats/safetensors.h"
#include "holdfast/formats/safetensors_index.h"

namespace holdfast {
namespace {

std::string with_nul(const std::string& json) {
  return json + '\0' + "x";
}

TEST(JsonBytes, NamesTheFirstNulAndItsReader) {
  EXPECT_NO_THROW(require_no_nul("{\"a\": \"\\u0000\"}", "f"));
  EXPECT_NO_THROW(require_no_nul("", "f"));
  try {
    require_no_nul(with_nul("{}"), "f: header", ErrorCode::kInvalidArgument);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "f: header: expected JSON, got a NUL at byte 2");
  }
}

// The parser takes a NUL for the end: each reader must look before.
TEST(JsonBytes, EveryReaderOfTheFormatsRefusesANul) {
  const std::string line = "f: expected JSON, got a NUL at byte ";
  try {
    parse_json_object(with_nul("{}"), "f");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), line + "2");
  }
  const std::string index = R"({"weight_map":{"a":"b"}})";
  EXPECT_EQ(
      parse_safetensors_index(with_nul(index), "f").status().text(),
      line + std::to_string(index.size()));
  EXPECT_EQ(
      parse_safetensors_header(with_nul("{}"), Bytes(12), "f").status().text(),
      "f: header: expected JSON, got a NUL at byte 2");
}

} // namespace
} // namespace holdfast
