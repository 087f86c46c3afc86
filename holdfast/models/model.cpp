// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/model.h"

#include "holdfast/base/check.h"
#include "holdfast/models/gemma2.h"
#include "holdfast/models/gemma3.h"
#include "holdfast/models/gemma3_text.h"
#include "holdfast/models/gemma4.h"
#include "holdfast/models/gpt_oss.h"
#include "holdfast/models/latent.h"
#include "holdfast/models/llama.h"
#include "holdfast/models/phi3.h"
#include "holdfast/models/qwen.h"
#include "holdfast/models/qwen35.h"
#include "holdfast/models/qwen3_moe.h"

namespace holdfast {

namespace {

struct Family {
  const char* name;
  std::unique_ptr<Model> (*make)(const WeightSource&, Runtime);
};

// A new family is one line here.
constexpr Family kFamilies[] = {
    {"deepseek_v2", make_latent},
    {"gemma2", make_gemma2},
    {"gemma3", make_gemma3},
    {"gemma3_text", make_gemma3_text},
    {"gemma4", make_gemma4},
    {"gemma4_text", make_gemma4},
    {"gpt_oss", make_gpt_oss},
    {"llama", make_llama},
    {"mistral", make_mistral},
    {"phi3", make_phi3},
    {"qwen2", make_qwen2},
    {"qwen3", make_qwen3},
    {"qwen3_5", make_qwen35},
    {"qwen3_5_text", make_qwen35},
    {"qwen3_moe", make_qwen3_moe},
};

} // namespace

std::unique_ptr<Model> make_model(const WeightSource& source, Runtime runtime) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (source.config().family == family.name) {
      return family.make(source, std::move(runtime));
    }
    known += std::string(known.empty() ? "" : ", ") + family.name;
  }
  throw Error(
      ErrorCode::kUnsupported,
      "[model] expected a family of: " + known + "; got \"" +
          source.config().family + "\"");
}

} // namespace holdfast
