// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/sampling_defaults.h"

#include "holdfast/engine/json_settings.h"

namespace holdfast {

namespace {

constexpr size_t kLargest = size_t{1} << 20;

std::optional<double> number(const Settings& settings, const char* name) {
  return settings.has(name) ? std::optional(settings.number(name))
                            : std::nullopt;
}

} // namespace

SamplingDefaults
parse_sampling_defaults(std::string_view json, const std::string& where) {
  if (json.size() > kLargest) {
    throw Error(
        ErrorCode::kCorrupt,
        where + ": expected at most 1 MiB, got " + std::to_string(json.size()) +
            " bytes");
  }
  const Settings settings(where, parse_json_settings(json, where));
  SamplingDefaults defaults{
      .temperature = number(settings, "temperature"),
      .top_k = {},
      .top_p = number(settings, "top_p"),
      .min_p = number(settings, "min_p"),
      .repeat_penalty = number(settings, "repetition_penalty")};
  if (settings.has("top_k")) {
    defaults.top_k = settings.size("top_k");
  }
  if (!settings.flag("do_sample", true)) {
    defaults.temperature = 0;
  }
  SamplingOptions options;
  options.temperature = defaults.temperature.value_or(options.temperature);
  options.top_k = defaults.top_k.value_or(options.top_k);
  options.top_p = defaults.top_p.value_or(options.top_p);
  options.min_p = defaults.min_p.value_or(options.min_p);
  options.repeat_penalty =
      defaults.repeat_penalty.value_or(options.repeat_penalty);
  try {
    options.validate();
  } catch (const Error& error) {
    throw Error(ErrorCode::kCorrupt, where + ": " + error.what());
  }
  return defaults;
}

} // namespace holdfast
