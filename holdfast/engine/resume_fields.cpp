// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/resume_fields.h"

#include <charconv>
#include <string>

namespace holdfast {

namespace {

using Fields = std::vector<ResumePoint::Field>;

/// The shortest form that reads back as the same number.
std::string exact(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

void add_sampling(const SamplingOptions& sampling, Fields& fields) {
  fields.push_back({"temperature", exact(sampling.temperature)});
  fields.push_back({"top-k", std::to_string(sampling.top_k)});
  fields.push_back({"top-p", exact(sampling.top_p)});
  fields.push_back({"min-p", exact(sampling.min_p)});
  fields.push_back({"repeat-penalty", exact(sampling.repeat_penalty)});
  fields.push_back({"presence-penalty", exact(sampling.presence_penalty)});
  fields.push_back({"frequency-penalty", exact(sampling.frequency_penalty)});
  fields.push_back({"seed", std::to_string(sampling.seed)});
}

Signature as_signature(const Fields& fields) {
  std::vector<Signature::Field> same;
  for (const ResumePoint::Field& field : fields) {
    same.push_back({field.name, field.value});
  }
  return Signature(std::move(same));
}

[[noreturn]] void refuse(const std::string& difference) {
  throw Error(
      ErrorCode::kUnsupported,
      "[resume] expected what the interrupted run was asked for, got another " +
          difference);
}

} // namespace

Fields resume_fields(const SequenceRules& rules, const Signature& signature) {
  const GenerateOptions& options = rules.options;
  Fields fields;
  add_sampling(options.sampling, fields);
  fields.push_back({"max-tokens", std::to_string(options.max_tokens)});
  fields.push_back({"context", std::to_string(rules.context)});
  fields.push_back({"ignore-eos", options.ignore_eos ? "yes" : "no"});
  fields.push_back(
      {"logprobs",
       options.logprobs ? std::to_string(*options.logprobs) : "none"});
  for (size_t i = 0; i < options.stops.size(); ++i) {
    std::string name = "stop ";
    name.append(std::to_string(i + 1));
    fields.push_back({std::move(name), options.stops[i]});
  }
  std::string ends;
  for (const int32_t token : rules.end_tokens) {
    ends.append(ends.empty() ? "" : ",").append(std::to_string(token));
  }
  fields.push_back({"end-tokens", ends});
  for (const Signature::Field& field : signature.fields()) {
    std::string name = "state ";
    name.append(field.name);
    fields.push_back({std::move(name), field.value});
  }
  return fields;
}

void require_same_run(
    const ResumePoint& point,
    const Fields& fields,
    std::span<const std::vector<int32_t>> prompts) {
  if (const auto difference =
          as_signature(point.fields).difference(as_signature(fields))) {
    refuse(*difference);
  }
  if (point.rows.size() != prompts.size()) {
    refuse(
        "number of prompts: expected " + std::to_string(point.rows.size()) +
        ", got " + std::to_string(prompts.size()));
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (point.rows[i].prompt != prompts[i]) {
      refuse(
          "prompt " + std::to_string(i) + ": expected its " +
          std::to_string(point.rows[i].prompt.size()) + " tokens, got " +
          (point.rows[i].prompt.size() == prompts[i].size()
               ? "others"
               : std::to_string(prompts[i].size())));
    }
  }
}

} // namespace holdfast
