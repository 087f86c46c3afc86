// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a durable commit of four rows costs SQLite alone, by journal mode: why
// the manifest has the one it has (docs/manifest.md). --folder=PATH: where, on
// the device to measure (default: the system's place for temporary files).

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace {

std::string place = std::filesystem::temp_directory_path().string();

/// A database in a folder of its own.
class Database {
 public:
  explicit Database(const std::string& mode) {
    folder_ = place + "/journal_bench_XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr ||
        sqlite3_open((folder_ + "/a.db").c_str(), &database_) != SQLITE_OK) {
      throw std::runtime_error("cannot make " + folder_);
    }
    run("PRAGMA journal_mode=" + mode);
    run(mode == "WAL" ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=EXTRA");
    run("CREATE TABLE rows(id INTEGER PRIMARY KEY, value BLOB)");
    commit();
  }
  ~Database() {
    sqlite3_close(database_);
    std::filesystem::remove_all(folder_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void commit() {
    run("BEGIN IMMEDIATE");
    for (int row = 0; row < 4; ++row) {
      run("INSERT INTO rows(value) VALUES(randomblob(300))");
    }
    run("COMMIT");
  }

 private:
  void run(const std::string& text) {
    if (sqlite3_exec(database_, text.c_str(), nullptr, nullptr, nullptr) !=
        SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(database_));
    }
  }

  std::string folder_;
  sqlite3* database_ = nullptr;
};

void commit(benchmark::State& state, const char* mode) {
  Database database(mode);
  for (auto _ : state) {
    database.commit();
  }
}
#define HOLDFAST_COMMIT(mode)            \
  BENCHMARK_CAPTURE(commit, mode, #mode) \
      ->Iterations(100)                  \
      ->Repetitions(3)                   \
      ->ReportAggregatesOnly()           \
      ->UseRealTime()                    \
      ->Unit(benchmark::kMillisecond)
HOLDFAST_COMMIT(DELETE);
HOLDFAST_COMMIT(TRUNCATE);
HOLDFAST_COMMIT(PERSIST);
HOLDFAST_COMMIT(WAL);

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string option = "--folder=";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).starts_with(option)) {
      place = std::string(argv[i]).substr(option.size());
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
