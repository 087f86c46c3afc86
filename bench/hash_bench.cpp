// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What names and checks bytes, on one core: SHA-256 and the checksum (GB/s),
// the key of a block of tokens (ns), and the digest of a file (GB/s) that the
// system has in memory, by its name: --file=PATH.

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "holdfast/base/checksum.h"
#include "holdfast/base/key_hash.h"
#include "holdfast/base/sha256.h"
#include "holdfast/env/file_digest.h"
#include "holdfast/env/posix_file_system.h"

namespace holdfast {
namespace {

void count_bytes(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

void checksum_of(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(checksum(bytes));
  }
  count_bytes(state, state.range(0));
}
BENCHMARK(checksum_of)->Arg(4096)->Arg(1 << 20)->Arg(256 << 20);

void sha256_of(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(sha256(std::span(bytes)));
  }
  count_bytes(state, state.range(0));
}
BENCHMARK(sha256_of)->Arg(4096)->Arg(1 << 20);

void key_of_block(benchmark::State& state) {
  const std::vector<int32_t> tokens(64, 7);
  Key128 key;
  for (auto _ : state) {
    key = chained_key(key, tokens);
  }
  benchmark::DoNotOptimize(key);
}
BENCHMARK(key_of_block);

void digest_of_file(benchmark::State& state, const std::string& path) {
  const auto file =
      posix_file_system()->open(path, FileSystem::Access::kRead).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(file_digest(*file).value());
  }
  count_bytes(state, file->facts().value().size.get());
}

} // namespace
} // namespace holdfast

int main(int count, char** words) {
  constexpr const char* kFile = "--file=";
  const std::string last = count > 1 ? words[count - 1] : "";
  if (last.starts_with(kFile)) {
    --count;
    const std::string path = last.substr(std::strlen(kFile));
    benchmark::RegisterBenchmark(
        "digest_of_file", [path](benchmark::State& state) {
          holdfast::digest_of_file(state, path);
        });
  }
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
