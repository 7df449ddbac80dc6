// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

#include "core/files.h"
#include "ttir/parser.h"
#include "ttir/printer.h"
#include "ttir/verifier.h"

// `ttir_reprint [--generic] FILE`: reads and verifies Triton IR, and writes it out again.
int main(int argc, char** argv) {
  using namespace ksplit;
  const bool generic = argc == 3 && std::string_view(argv[1]) == "--generic";
  if (argc != (generic ? 3 : 2)) {
    std::fputs("usage: ttir_reprint [--generic] FILE\n", stderr);
    return 2;
  }
  const std::string_view path = argv[argc - 1];
  const auto read =
      read_file(path).and_then([&](const std::string& text) { return ttir::parse(text, path); });
  const auto status =
      read.and_then([](const ttir::Module& module) { return ttir::verify(module); });
  if (!status) {
    const Error& error = status.error();
    const SourceSpan at = error.at.value_or(SourceSpan{std::string(path), 0, 0});
    std::fprintf(stderr, "%s:%d:%d: %s\n", at.file.c_str(), at.line, at.column,
                 error.message.c_str());
    return 1;
  }
  std::fputs(ttir::print(*read, {.generic = generic}).c_str(), stdout);
  return 0;
}
