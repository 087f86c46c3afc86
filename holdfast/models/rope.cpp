// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/rope.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

using Divisors = std::vector<double>;

/// "rope_scaling." or "rope_parameters.", whichever names a type.
std::string scaling_prefix(const Settings& settings) {
  const std::string older = "rope_scaling.";
  const std::string newer = "rope_parameters.";
  const bool has_older =
      settings.has(older + "rope_type") || settings.has(older + "type");
  return has_older ? older : newer;
}

/// What the scaling of one model reads.
class Scaling {
 public:
  Scaling(
      const WeightSource& source,
      std::string prefix,
      int64_t dims,
      double base)
      : source_(source),
        settings_(source.settings()),
        prefix_(std::move(prefix)),
        dims_(dims),
        base_(base) {}

  void add_to(cpu::Rope& rope) const {
    const std::string type = settings_.text(
        prefix_ + "rope_type", settings_.text(prefix_ + "type", "default"));
    if (type == "linear") {
      rope.scale = static_cast<float>(1.0 / factor());
    } else if (type == "llama3") {
      rope.divisors = shared(llama3());
    } else if (type == "yarn") {
      rope.divisors = shared(yarn());
      rope.magnitude = static_cast<float>(yarn_magnitude());
    } else if (type == "longrope" || type == "su") {
      rope.divisors = shared(longrope());
      rope.magnitude = static_cast<float>(longrope_magnitude());
    } else if (type != "default" && type != "none") {
      throw settings_.refusal(
          prefix_ + "rope_type",
          "default, linear, llama3, yarn or longrope",
          '"' + type + '"',
          ErrorCode::kUnsupported);
    }
  }

 private:
  static std::shared_ptr<const Divisors> shared(Divisors divisors) {
    return std::make_shared<const Divisors>(std::move(divisors));
  }

  double positive(const std::string& name, double value) const {
    if (!(value > 0.0)) {
      throw settings_.refusal(name, "above 0", std::to_string(value));
    }
    return value;
  }
  double setting(const char* name, double otherwise) const {
    return positive(
        prefix_ + name, settings_.number(prefix_ + name, otherwise));
  }
  double factor() const {
    return positive(prefix_ + "factor", settings_.number(prefix_ + "factor"));
  }
  /// Positions before the context was extended.
  double original(double otherwise) const {
    const char* name = "original_max_position_embeddings";
    return setting(name, settings_.number(name, otherwise));
  }

  /// Turns over `positions` of pair i.
  double turns(size_t i, double positions) const {
    const double exponent =
        -2.0 * static_cast<double>(i) / static_cast<double>(dims_);
    return positions * std::pow(base_, exponent) / (2.0 * std::numbers::pi);
  }

  /// Pairs that turn less than low_freq_factor times over the original context
  /// slow down by the factor, those of more than high_freq_factor do not, and
  /// between them the change is even in the turns.
  Divisors llama3() const {
    const double slow = factor();
    const double low = setting("low_freq_factor", 1.0);
    const double high = setting("high_freq_factor", 4.0);
    if (high <= low) {
      throw settings_.refusal(
          prefix_ + "high_freq_factor",
          "above low_freq_factor",
          std::to_string(high));
    }
    const double context = original(8192.0);
    Divisors divisors;
    for (size_t i = 0; i < static_cast<size_t>(dims_ / 2); ++i) {
      const double part =
          std::clamp((turns(i, context) - low) / (high - low), 0.0, 1.0);
      divisors.push_back(1.0 / ((1.0 - part) / slow + part));
    }
    return divisors;
  }

  /// The pair, as a real number, that turns `times` over the context.
  double pair_of_turns(double times, double context) const {
    return static_cast<double>(dims_) *
        std::log(context / (times * 2.0 * std::numbers::pi)) /
        (2.0 * std::log(base_));
  }

  /// https://arxiv.org/abs/2309.00071: as llama3(), but even in the pair's
  /// index.
  Divisors yarn() const {
    const double slow = factor();
    const double context = original(4096.0);
    double first = pair_of_turns(setting("beta_fast", 32.0), context);
    double last = pair_of_turns(setting("beta_slow", 1.0), context);
    if (settings_.flag(prefix_ + "truncate", true)) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, static_cast<double>(dims_ - 1));
    const double width = first == last ? 0.001 : last - first;
    Divisors divisors;
    for (size_t i = 0; i < static_cast<size_t>(dims_ / 2); ++i) {
      const double part =
          std::clamp((static_cast<double>(i) - first) / width, 0.0, 1.0);
      divisors.push_back(1.0 / (part / slow + 1.0 - part));
    }
    return divisors;
  }

  double yarn_magnitude() const {
    const std::string stated = prefix_ + "attention_factor";
    if (settings_.has(stated)) {
      return positive(stated, settings_.number(stated));
    }
    const double log_factor = std::max(0.0, std::log(factor()));
    const auto grown = [&](const char* name, double otherwise) {
      return 1.0 +
          0.1 * log_factor * settings_.number(prefix_ + name, otherwise);
    };
    return grown("mscale", 1.0) / grown("mscale_all_dim", 0.0);
  }

  Divisors longrope() const {
    const std::string tensor = "rope_factors_long.weight";
    if (source_.has(tensor)) {
      const auto values = source_.vector(tensor, dims_ / 2);
      return {values.begin(), values.end()};
    }
    const std::string name = prefix_ + "long_factor";
    Divisors divisors = settings_.numbers(name);
    if (std::ssize(divisors) != dims_ / 2) {
      throw settings_.refusal(
          name,
          std::to_string(dims_ / 2) + " numbers",
          std::to_string(divisors.size()));
    }
    for (const double divisor : divisors) {
      positive(name, divisor);
    }
    return divisors;
  }

  /// Scores of a longer context spread over more keys.
  double longrope_magnitude() const {
    const std::string stated = prefix_ + "attention_factor";
    if (settings_.has(stated)) {
      return positive(stated, settings_.number(stated));
    }
    const double context = original(4096.0);
    const double grown = setting(
        "factor", static_cast<double>(source_.config().context) / context);
    return grown <= 1.0 ? 1.0
                        : std::sqrt(1.0 + std::log(grown) / std::log(context));
  }

  const WeightSource& source_;
  const Settings& settings_;
  const std::string prefix_;
  const int64_t dims_;
  const double base_;
};

double
base_of(const Settings& settings, const std::string& name, double otherwise) {
  const double base = settings.number(name, otherwise);
  if (!(base > 1.0 && base < 1e30)) {
    throw settings.refusal(name, "from 1 to 1e30", std::to_string(base));
  }
  return base;
}

/// With what the settings under `prefix` say of its scaling.
cpu::Rope scaled(
    const WeightSource& source,
    std::string prefix,
    int64_t dims,
    double base) {
  cpu::Rope rope{.dims = dims, .base = static_cast<float>(base)};
  Scaling(source, std::move(prefix), dims, base).add_to(rope);
  return rope;
}

} // namespace

cpu::Rope read_rope(const WeightSource& source, int64_t dims, double theta) {
  const Settings& settings = source.settings();
  const std::string name = "rope_theta";
  const double base = base_of(
      settings, name, settings.number("rope_parameters." + name, theta));
  cpu::Rope rope = scaled(source, scaling_prefix(settings), dims, base);
  const std::string tensor = "rope_freqs.weight";
  if (source.has(tensor)) {
    const auto values = source.vector(tensor, dims / 2);
    rope.divisors =
        std::make_shared<const Divisors>(values.begin(), values.end());
  }
  return rope;
}

cpu::Rope read_rope_of(
    const WeightSource& source,
    int64_t dims,
    double theta,
    const std::string& layers) {
  const std::string prefix = "rope_parameters." + layers + ".";
  const double base = base_of(source.settings(), prefix + "rope_theta", theta);
  return scaled(source, prefix, dims, base);
}

float rope_base(
    const Settings& settings,
    const std::string& name,
    double otherwise) {
  return static_cast<float>(base_of(settings, name, otherwise));
}

int64_t rope_dims(const WeightSource& source, double otherwise) {
  const Settings& settings = source.settings();
  const std::string name = "partial_rotary_factor";
  const double part = settings.number(
      name, settings.number("rope_parameters." + name, otherwise));
  const int64_t head = source.config().head_dim;
  const bool fits = part > 0.0 && part <= 1.0;
  // Not 31 where 0.4 * 80 comes out below 32.
  const auto dims = static_cast<int64_t>(
      fits ? static_cast<double>(head) * part + 1e-6 : 0.0);
  if (dims < 2 || dims % 2 != 0) {
    throw settings.refusal(
        name,
        "a part of " + std::to_string(head) + " that is even",
        std::to_string(part));
  }
  return dims;
}

} // namespace holdfast
