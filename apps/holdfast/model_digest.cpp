// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "model_digest.h"

#include <filesystem>

#include "console.h"
#include "errors.h"
#include "holdfast/env/file_digest.h"
#include "holdfast/env/posix_file_system.h"

namespace holdfast::app {

std::string model_digest(
    const std::string& folder,
    const std::string& model_path,
    const FileIdentity& loaded) {
  FileDigests digests(posix_file_system(), folder + "/digests", system_clock());
  ProgressLine line("hashing the model");
  std::error_code error;
  const auto real = std::filesystem::canonical(model_path, error);
  const DigestWork work{
      .progress = [&](Bytes done,
                      Bytes total) { line.update(done.get(), total.get()); },
      .interrupted = nullptr};
  const Result<Digest256> digest =
      digests.digest_of(loaded, error ? model_path : real.string(), work);
  line.clear();
  if (!digest.ok()) {
    throw UserError(digest.status().text());
  }
  return digest.value().hex();
}

} // namespace holdfast::app
