// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ttir/op_table.h"
#include "ttir/parser.h"
#include "ttir/printer.h"
#include "ttir/verifier.h"

namespace ksplit::ttir {
namespace {

std::string message_of(const Error& error) {
  if (!error.at) return error.message;
  return error.at->file + ":" + std::to_string(error.at->line) + ":" +
         std::to_string(error.at->column) + ": " + error.message;
}

Module parse_or_fail(const std::string& text, const std::string& name) {
  auto module = parse(text, name);
  if (!module) ADD_FAILURE() << message_of(module.error());
  return module ? std::move(*module) : Module();
}

// Each file is parsed once for all tests.
const Module& parsed(const Golden& golden) {
  static std::map<std::string, Module> modules;
  const auto found = modules.find(golden.name);
  if (found != modules.end()) return found->second;
  return modules.emplace(golden.name, parse_or_fail(golden.text, golden.name)).first->second;
}

// Triton's text without ` loc(...)` and without alias lines.
std::string without_locations(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && text[i] == '#') {
      i = text.find('\n', i) + 1;
    } else if (text.compare(i, 5, " loc(") == 0) {
      int open = 1;
      for (i += 5; open > 0; ++i) open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// 25 kernels, one more from 3.5 on, raw and optimised; words.ttir with every enumeration's
// words.
TEST(Golden, ThereAreFilesOfEachTriton) {
  EXPECT_EQ(golden_files().size(), 159U);
}

TEST(Golden, EveryFileIsLegal) {
  for (const Golden& golden : golden_files()) {
    const auto status = verify(parsed(golden));
    EXPECT_TRUE(status) << golden.name << ": " << message_of(status.error());
  }
}

// The strongest form of "the printer writes what Triton writes": byte for byte.
TEST(Golden, PrintedTextIsTritonsOwn) {
  for (const Golden& golden : golden_files()) {
    EXPECT_EQ(print(parsed(golden), {.locations = false}), without_locations(golden.text))
        << golden.name;
  }
}

TEST(Golden, ParsePrintParseIsTheIdentity) {
  for (const Golden& golden : golden_files()) {
    const std::string once = print(parsed(golden));
    EXPECT_EQ(print(parse_or_fail(once, golden.name)), once) << golden.name;
  }
}

// Both syntaxes mean the same: enumerations, defaults, operand groups, implied yields.
TEST(Golden, GenericSyntaxGivesTheSameModule) {
  for (const Golden& golden : golden_files()) {
    const Module& module = parsed(golden);
    const std::string generic = print(module, {.generic = true});
    const Module again = parse_or_fail(generic, golden.name);
    EXPECT_TRUE(verify(again)) << golden.name;
    EXPECT_EQ(print(again), print(module)) << golden.name;
    EXPECT_EQ(print(again, {.generic = true}), generic) << golden.name;
  }
}

// Folded constants and joining branches have no line in Triton's text; what does work has one.
TEST(Golden, OperationsLeadToALineOfTheKernel) {
  const std::set<std::string> located = {
      "tt.load", "tt.store", "tt.atomic_rmw", "tt.addptr",  "tt.reduce",  "tt.dot",  "tt.splat",
      "scf.for", "scf.if",   "scf.while",     "arith.addf", "arith.mulf", "math.exp"};
  for (const Golden& golden : golden_files()) {
    const Module& module = parsed(golden);
    for (const auto& function : module.functions) {
      walk(function->body, [&](const Operation& op) {
        if (!located.contains(op.name) || module.location.is_unknown()) return;
        const auto stack = op.location.call_stack();
        ASSERT_FALSE(stack.empty()) << golden.name << ": " << print(op);
        EXPECT_GT(stack.front().line, 0);
        // Inlined code leads outward to the kernel; an outlined function is where it is.
        EXPECT_TRUE(stack.back().file == "kernels.py" || stack.back().file.starts_with("triton/"));
      });
    }
  }
}

TEST(Golden, LinksAreConsistent) {
  for (const Golden& golden : golden_files()) {
    const Module& module = parsed(golden);
    std::size_t uses = 0;
    std::set<int> ids;
    for (const auto& function : module.functions) {
      walk(function->body, [&](const Operation& op) {
        ids.insert(op.id);
        uses += op.operands.size();
        for (const Value* operand : op.operands) {
          EXPECT_TRUE(std::ranges::count(operand->users, &op) > 0);
        }
        for (std::size_t i = 0; i < op.results.size(); ++i) {
          EXPECT_EQ(op.results[i]->definition, &op);
          EXPECT_EQ(op.results[i]->index, static_cast<int>(i));
        }
        for (const Successor& target : op.successors) uses += target.arguments.size();
      });
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(module.operation_count));
    std::size_t users = 0;
    for (std::size_t i = 0; i < module.values.size(); ++i) {
      EXPECT_EQ(module.values[i].id, static_cast<int>(i));
      users += module.values[i].users.size();
    }
    EXPECT_EQ(users, uses) << golden.name;
  }
}

// What the golden kernels are there for: no construct of the language is left to chance.
TEST(Golden, KernelsUseEveryTritonOperation) {
  std::set<std::string> seen;
  for (const Golden& golden : golden_files()) {
    const Module& module = parsed(golden);
    for (const auto& function : module.functions) {
      walk(function->body, [&](const Operation& op) { seen.insert(op.name); });
    }
  }
  const std::set<std::string> not_from_the_language = {"tt.unsplat"};  // made by later passes
  for (const OpInfo& info : all_ops()) {
    const std::string name(info.name);
    if (!name.starts_with("tt.") || not_from_the_language.contains(name)) continue;
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

}  // namespace
}  // namespace ksplit::ttir
