// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/kv_choice.h"

#include <charconv>
#include <optional>
#include <set>

#include "holdfast/codec/codec_names.h"

namespace holdfast {

namespace {

constexpr const char* kGrammar = "KEYS[/VALUES][@START]";

Status refused(std::string_view text, const std::string& what) {
  return Status(
      ErrorCode::kInvalidArgument,
      std::string("[kv] expected ")
          .append(kGrammar)
          .append(what)
          .append(", got \"")
          .append(text)
          .append("\""));
}

/// Digits alone, or "never" or "inf".
std::optional<Position> parse_start(std::string_view text) {
  if (text == "never" || text == "inf") {
    return kNeverStart;
  }
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.front() == '-' ||
      Position(value) == kNeverStart) {
    return std::nullopt;
  }
  return Position(value);
}

const Codec* before_start(const Codec* codec) {
  return codec->form().kind == CodecKind::kDense ? codec
                                                 : find_codec("bf16").value();
}

/// Whether both channels of a layer fit.
Status fits_layer(const KvCodecs& codecs, const KvLayer& layer) {
  if (layer.key_dim == 0) {
    return Status();
  }
  const Status keys = codecs.keys->supports(ChannelRole::kKeys, layer.key_dim);
  return keys.ok()
      ? codecs.values->supports(ChannelRole::kValues, layer.value_dim)
      : keys;
}

} // namespace

Result<KvChoice> parse_kv_choice(std::string_view text) {
  std::string_view codecs = text;
  Position start(0);
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    const std::optional<Position> given = parse_start(text.substr(at + 1));
    if (!given) {
      return refused(
          text, " where START is a number of positions, never or inf");
    }
    start = *given;
    codecs = text.substr(0, at);
  }
  const size_t slash = codecs.find('/');
  const std::string_view keys = codecs.substr(0, slash);
  const std::string_view values =
      slash == std::string_view::npos ? keys : codecs.substr(slash + 1);
  const Result<const Codec*> key_codec = find_codec(keys);
  const Result<const Codec*> value_codec = find_codec(values);
  if (!key_codec.ok() || !value_codec.ok()) {
    return refused(text, " of codecs " + all_codec_names());
  }
  KvChoice choice;
  choice.then = {key_codec.value(), value_codec.value()};
  choice.first = {
      before_start(choice.then.keys), before_start(choice.then.values)};
  if (start == Position(0)) {
    choice.first = choice.then;
  } else if (choice.first != choice.then) {
    choice.start = start;
  }
  return choice;
}

std::string to_string(const KvChoice& choice) {
  std::string text = names_of(*choice.then.keys, *choice.then.values);
  if (choice.first != choice.then) {
    text += "@";
    text += choice.start == kNeverStart ? "never"
                                        : std::to_string(choice.start.get());
  }
  return text;
}

const KvChoice& KvPolicy::of(int64_t layer, std::string_view group) const {
  if (const auto own = layers.find(layer); own != layers.end()) {
    return own->second;
  }
  const auto shared = groups.find(group);
  return shared == groups.end() ? usual : shared->second;
}

Status KvPolicy::fits(std::span<const KvLayer> model) const {
  std::set<std::string, std::less<>> known;
  for (const KvLayer& layer : model) {
    if (layer.key_dim > 0) {
      known.insert(layer.group);
    }
  }
  for (const auto& [group, choice] : groups) {
    if (!known.contains(group)) {
      std::string names;
      for (const std::string& name : known) {
        names += names.empty() ? "" : ", ";
        names += name;
      }
      std::string text = "[kv] expected a group of this model (";
      text.append(names).append("), got \"").append(group).append("\"");
      return {ErrorCode::kInvalidArgument, std::move(text)};
    }
  }
  for (const auto& [layer, choice] : layers) {
    if (layer < 0 || layer >= std::ssize(model)) {
      return Status(
          ErrorCode::kInvalidArgument,
          "[kv] expected a layer below " + std::to_string(model.size()) +
              ", got " + std::to_string(layer));
    }
    if (model[layer].key_dim == 0) {
      return Status(
          ErrorCode::kInvalidArgument,
          "[kv] expected a layer that stores keys and values of its own, got " +
              std::to_string(layer));
    }
  }
  for (int64_t i = 0; i < std::ssize(model); ++i) {
    const KvChoice& choice = of(i, model[i].group);
    for (const KvCodecs& phase : {choice.first, choice.then}) {
      if (const Status status = fits_layer(phase, model[i]); !status.ok()) {
        return Status(
            status.code(),
            "[kv] layer " + std::to_string(i) + ": " + status.text());
      }
    }
  }
  return Status();
}

} // namespace holdfast
