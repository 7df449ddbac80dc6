// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"

namespace ksplit::test {
namespace {

// A file of its own for each test process, gone afterwards.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("ksplit_source_{}.py", static_cast<long>(getpid()))) {
    EXPECT_TRUE(write_file(path_, text));
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Output {
  std::string text;
  bool ok;
};

Output run_python(const std::string& program, const std::string& argument) {
  const std::string command = fmt::format("PYTHONPATH='{}/python' '{}' -c '{}' '{}' 2>&1",
                                          KSPLIT_SOURCE_DIR, KSPLIT_TEST_PYTHON, program, argument);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {"cannot run " + command, false};
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), count);
  }
  return {text, pclose(pipe) == 0};
}

}  // namespace

PythonModule module_of(const std::string& text, const std::string& path) {
  const TemporaryFile file(text);
  const Output output = run_python(
      "import json, pathlib, sys; from ksplit.sources import parse_file; "
      "print(json.dumps(parse_file(pathlib.Path(sys.argv[1]))))",
      file.path());
  EXPECT_TRUE(output.ok) << output.text;
  const nlohmann::json answer = nlohmann::json::parse(output.text);
  Result<PythonModule> module = module_from_json(path, answer["text"], answer["tree"]);
  EXPECT_TRUE(module.has_value()) << module.error().message;
  return std::move(*module);
}

std::string compile_error(const std::string& text) {
  const TemporaryFile file(text);
  const Output output = run_python(
      "import pathlib, sys; compile(pathlib.Path(sys.argv[1]).read_text(), sys.argv[1], \"exec\")",
      file.path());
  return output.ok ? std::string() : output.text;
}

std::string golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path =
      std::filesystem::path(KSPLIT_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("KSPLIT_UPDATE_GOLDEN") != nullptr) {
    EXPECT_TRUE(write_file(path, actual));
  }
  const Result<std::string> expected = read_file(path);
  return expected ? *expected : "no file " + path.string();
}

}  // namespace ksplit::test
