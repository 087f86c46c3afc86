// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "model_digest.h"

#include <filesystem>
#include <span>

#include "console.h"
#include "errors.h"
#include "holdfast/base/sha256.h"
#include "holdfast/env/file_digest.h"
#include "holdfast/env/posix_file_system.h"

namespace holdfast::app {

namespace {

void add_text(Sha256& sha, const std::string& text) {
  sha.add(std::as_bytes(std::span(text)));
}

} // namespace

std::string
model_digest(const std::string& folder, const std::vector<ModelPart>& parts) {
  FileDigests digests(posix_file_system(), folder + "/digests", system_clock());
  ProgressLine line("hashing the model");
  int64_t total = 0;
  for (const ModelPart& part : parts) {
    total += part.identity.size;
  }
  int64_t before = 0;
  Sha256 all;
  std::string digest;
  for (const ModelPart& part : parts) {
    std::error_code error;
    const auto real = std::filesystem::canonical(part.path, error);
    const DigestWork work{
        .progress = [&](Bytes done,
                        Bytes) { line.update(before + done.get(), total); },
        .interrupted = nullptr};
    const Result<Digest256> one = digests.digest_of(
        part.identity, error ? part.path : real.string(), work);
    if (!one.ok()) {
      line.clear();
      throw UserError(one.status().text());
    }
    before += part.identity.size;
    digest = one.value().hex();
    // A name has no line's end (env/folder_file.h).
    add_text(all, digest + " " + part.name + "\n");
  }
  line.clear();
  return parts.size() == 1 ? digest : all.finish().hex();
}

} // namespace holdfast::app
