// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/pack_plan.h"

#include <cstdio>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr std::string_view kWeight = ".weight";

/// Bytes of an element.
int64_t item_of(const StoredTensor& stored) {
  const int64_t elements = stored.elements();
  return elements == 0 ? 1 : stored.bytes.get() / elements;
}

/// What becomes of one tensor.
std::vector<TensorToWrite> written_as(
    const std::string& name,
    const StoredTensor& stored,
    const MlxQuantized& kind) {
  if (!is_packed(name, stored, kind.group)) {
    return {{name, stored.type_name, item_of(stored), stored.shape}};
  }
  const int64_t n = stored.shape[0], k = stored.shape[1];
  const std::vector<int64_t> groups{n, k / kind.group};
  return {
      {name, "U32", 4, {n, k * kind.bits / 32}},
      {module_part(name, "scales"), stored.type_name, item_of(stored), groups},
      {module_part(name, "biases"), stored.type_name, item_of(stored), groups}};
}

void name_files(std::vector<PackedFile>& files) {
  if (files.size() == 1) {
    files[0].name = "model.safetensors";
    return;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    char name[64];
    std::snprintf(
        name,
        sizeof name,
        "model-%05zu-of-%05zu.safetensors",
        i + 1,
        files.size());
    files[i].name = name;
  }
}

} // namespace

bool is_packed(std::string_view name, const StoredTensor& stored, int group) {
  const bool chooses =
      name.ends_with(".mlp.gate.weight") || name.ends_with(".router.weight");
  return name.ends_with(kWeight) && !chooses &&
      name.find(".experts.") == name.npos && stored.shape.size() == 2 &&
      stored.elements() > 0 && is_float(stored.type) &&
      stored.shape[1] % group == 0;
}

std::string module_part(std::string_view weight, std::string_view part) {
  std::string name(weight.substr(0, weight.size() - kWeight.size()));
  return name.append(".").append(part);
}

std::string PackPlan::index() const {
  nlohmann::ordered_json json;
  json["metadata"]["total_size"] = written.get();
  auto& map = json["weight_map"];
  for (const PackedFile& file : files) {
    for (const TensorToWrite& tensor : file.tensors) {
      map[tensor.name] = file.name;
    }
  }
  return json.dump(4) + "\n";
}

PackPlan plan_pack(
    const SafetensorsFolder& model,
    const MlxQuantized& kind,
    Bytes most) {
  PackPlan plan;
  Bytes in_file;
  std::set<std::string> names;
  for (const auto& [name, tensor] : model.tensors()) {
    const auto parts = written_as(name, tensor.stored, kind);
    Bytes bytes;
    for (const TensorToWrite& part : parts) {
      if (!names.insert(part.name).second) {
        throw Error(
            ErrorCode::kCorrupt,
            "[pack] expected no tensor beside " + name +
                " that is named as a part of its packed form, got " +
                part.name);
      }
      bytes += part.bytes();
    }
    if (plan.files.empty() || in_file + bytes > most) {
      plan.files.emplace_back();
      in_file = Bytes();
    }
    in_file += bytes;
    plan.source += tensor.stored.bytes;
    plan.written += bytes;
    plan.quantized += parts.size() > 1 ? 1 : 0;
    PackedFile& file = plan.files.back();
    file.sources.push_back(name);
    file.tensors.insert(file.tensors.end(), parts.begin(), parts.end());
  }
  if (plan.quantized == 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[pack] expected a matrix whose rows are groups of " +
            std::to_string(kind.group) + " weights, got none");
  }
  name_files(plan.files);
  return plan;
}

} // namespace holdfast
