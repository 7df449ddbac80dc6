// SPDX-License-Identifier: Apache-2.0
#include "worker/interpreter.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support.h"

namespace ksplit {
namespace {

namespace fs = std::filesystem;

class InterpreterTest : public testing::Test {
 protected:
  fs::path program(const fs::path& relative) {
    const fs::path path = folder_.path() / relative;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  TemporaryFolder folder_;
  ScopedVariable named_{"KSPLIT_PYTHON", std::nullopt};
  ScopedVariable package_{"KSPLIT_PYTHONPATH", std::nullopt};
  ScopedVariable environment_{"VIRTUAL_ENV", std::nullopt};
  ScopedVariable path_{"PATH", folder_.path() / "path"};
};

TEST_F(InterpreterTest, TheFirstOfAllWaysWins) {
  const auto on_path = program("path/python3");
  EXPECT_EQ(find_interpreter("").value().python, on_path);
  EXPECT_EQ(find_interpreter("").value().chosen_by, "python3 on PATH");

  const auto of_environment = program("venv/bin/python");
  const ScopedVariable environment("VIRTUAL_ENV", folder_.path() / "venv");
  EXPECT_EQ(find_interpreter("").value().python, of_environment);

  const auto named = program("named");
  const ScopedVariable variable("KSPLIT_PYTHON", named);
  EXPECT_EQ(find_interpreter("").value().python, named);

  const auto option = program("option");
  EXPECT_EQ(find_interpreter(option).value().python, option);
  EXPECT_EQ(find_interpreter("python3").value().python, on_path);
}

TEST_F(InterpreterTest, WhatIsNamedIsNotPassedOver) {
  program("path/python3");
  const auto option = find_interpreter("/no/such/python");
  ASSERT_FALSE(option);
  EXPECT_EQ(option.error().code, ErrorCode::environment);
  EXPECT_EQ(option.error().message,
            "`/no/such/python` (from --python) is not a program that can be run");
  EXPECT_EQ(find_interpreter("python9").error().message, "no `python9` on PATH (from --python)");

  const ScopedVariable variable("KSPLIT_PYTHON", folder_.path());
  EXPECT_NE(find_interpreter("").error().message.find("from KSPLIT_PYTHON"), std::string::npos);
}

TEST_F(InterpreterTest, WithoutAnyPythonAllThatWasTriedIsNamed) {
  const ScopedVariable environment("VIRTUAL_ENV", "/no/venv");
  const auto found = find_interpreter("");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "found no Python; tried --python and KSPLIT_PYTHON (not set), `/no/venv/bin/python` "
            "(from VIRTUAL_ENV), `python3` on PATH");
  EXPECT_FALSE(found.error().hint.empty());
}

TEST_F(InterpreterTest, ThePackageFolderCanBeNamed) {
  program("path/python3");
  const ScopedVariable package("KSPLIT_PYTHONPATH", folder_.path());
  EXPECT_EQ(find_interpreter("").value().package_folder, folder_.path());
}

}  // namespace
}  // namespace ksplit
