// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "dispatch/emit.h"
#include "dispatch/router.h"

namespace ksplit {

namespace {

constexpr int kStep = 4;
constexpr int kBodyIndent = 8;  // of a method's statements in the emitted file
constexpr std::size_t kLineLength = 100;

// Worth a local variable where asked more than once: a call, or an attribute that makes an object.
bool is_worth_naming(const Subject& subject) {
  using Kind = Subject::Kind;
  switch (subject.kind) {
    case Kind::dtype:
    case Kind::rank:
    case Kind::size:
    case Kind::stride:
    case Kind::numel:
    case Kind::shape: return true;
    default: return false;
  }
}

std::vector<Subject> subjects_of(const Test& test) {
  std::vector<Subject> subjects = {test.subject};
  if (test.kind == Test::Kind::equals_subject || test.kind == Test::Kind::axis_of) {
    subjects.push_back(test.other);
  }
  return subjects;
}

// How often the subject is written in the test.
std::ptrdiff_t uses(const Test& test, const Subject& subject) {
  std::ptrdiff_t count = test.subject == subject ? 1 : 0;
  if (test.kind == Test::Kind::equals_subject && test.other == subject) count += 1;
  if (test.kind == Test::Kind::axis_of && test.other == subject) count += 2;
  return count;
}

std::ptrdiff_t uses(const RouteBlock::Statement& statement, const Subject& subject) {
  std::ptrdiff_t count = 0;
  for (const Test& test : statement.tests) count += uses(test, subject);
  for (const RouteBlock::Statement& inner : statement.body.statements) {
    count += uses(inner, subject);
  }
  return count;
}

// Whether asking `subject` after `test` may be safe only because the test held: it settles what an
// argument is, how many axes it has, or which axis is meant.
bool may_protect(const Test& test, const Subject& subject) {
  using Kind = Subject::Kind;
  const std::vector<Subject> asked = subjects_of(test);
  return std::ranges::any_of(asked, [&subject](const Subject& one) {
    const bool settles = one.kind == Kind::type || one.kind == Kind::rank ||
                         one.kind == Kind::value || one.kind == Kind::shape;
    return settles &&
           (one.argument == subject.argument || one.argument == subject.dimension_argument);
  });
}

// Whether the subject is asked somewhere in the statement with no test before it that may protect
// it: then whatever makes it safe holds outside the statement already.
bool asks_unprotected(const RouteBlock::Statement& statement, const Subject& subject) {
  for (const Test& test : statement.tests) {
    if (uses(test, subject) > 0) return true;
    if (may_protect(test, subject)) return false;
  }
  return std::ranges::any_of(
      statement.body.statements,
      [&subject](const RouteBlock::Statement& inner) { return asks_unprotected(inner, subject); });
}

void append_subjects(const RouteBlock& block, std::vector<Subject>& subjects) {
  for (const RouteBlock::Statement& statement : block.statements) {
    for (const Test& test : statement.tests) {
      for (const Subject& subject : subjects_of(test)) {
        if (std::ranges::find(subjects, subject) == subjects.end()) subjects.push_back(subject);
      }
    }
    append_subjects(statement.body, subjects);
  }
}

// Subjects that two or more statements of the block ask and that are safe to ask before all of
// them: asked once there, however many branches an input passes by.
std::vector<Subject> shared_subjects(const RouteBlock& block) {
  std::vector<Subject> all, shared;
  append_subjects(block, all);
  for (const Subject& subject : all) {
    const auto asks = [&](const RouteBlock::Statement& s) { return uses(s, subject) > 0; };
    const auto safe = [&](const RouteBlock::Statement& s) { return asks_unprotected(s, subject); };
    if (is_worth_naming(subject) && std::ranges::count_if(block.statements, asks) > 1 &&
        std::ranges::any_of(block.statements, safe)) {
      shared.push_back(subject);
    }
  }
  return shared;
}

bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Every occurrence that does not continue a longer name.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    if (at > 0 && continues_name(text[at - 1])) {
      at += from.size();
    } else {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

class Printer {
 public:
  Printer(const std::vector<RouteBranch>& branches, const Task& task)
      : branches_(branches), task_(task) {
    for (const Parameter& parameter : task.parameters) taken_.insert(parameter.name);
  }

  void block(const RouteBlock& block, int indent);
  void line(int indent, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(indent), ' ') + text + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  void statement(const RouteBlock::Statement& statement, int indent);
  void condition(const Guard& tests, int indent);
  std::string test_text(const Test& test) const;
  std::string variable_for(const Subject& subject);
  void name(const Subject& subject, int indent);
  const std::string* known(const Subject& subject) const;

  const std::vector<RouteBranch>& branches_;
  const Task& task_;
  std::set<std::string> taken_;
  std::vector<std::pair<Subject, std::string>> variables_;  // in scope
  std::string text_;
};

const std::string* Printer::known(const Subject& subject) const {
  for (const auto& [named, variable] : variables_) {
    if (named == subject) return &variable;
  }
  return nullptr;
}

// x.size(dim) -> x_size_dim, x.size(-1) -> x_size_m1, x.numel() -> x_numel.
std::string Printer::variable_for(const Subject& subject) {
  std::string name;
  for (const char c : to_python(subject, task_.parameters)) {
    if (c == '-') {
      name += 'm';
    } else if (c == '.' || c == '(') {
      name += '_';
    } else if (c != ')') {
      name += c;
    }
  }
  while (name.back() == '_') name.pop_back();
  const auto in_scope = [&] {
    return std::any_of(variables_.begin(), variables_.end(),
                       [&](const auto& variable) { return variable.second == name; });
  };
  while (taken_.contains(name) || in_scope()) name += '_';
  return name;
}

std::string Printer::test_text(const Test& test) const {
  std::string text = to_python(test, task_.parameters);
  for (const Subject& subject : subjects_of(test)) {
    if (const std::string* variable = known(subject)) {
      text = replaced(std::move(text), to_python(subject, task_.parameters), *variable);
    }
  }
  return text;
}

void Printer::condition(const Guard& tests, int indent) {
  std::vector<std::string> texts;
  for (const Test& test : tests) texts.push_back(test_text(test));
  const std::string one_line = fmt::format("if {}:", fmt::join(texts, " and "));
  if (one_line.size() + static_cast<std::size_t>(indent + kBodyIndent) <= kLineLength) {
    line(indent, one_line);
    return;
  }
  line(indent, "if (");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    line(indent + kStep, (i == 0 ? "" : "and ") + texts[i]);
  }
  line(indent, "):");
}

void Printer::statement(const RouteBlock::Statement& statement, int indent) {
  // A subject asked again below its first use gets its variable once the tests before that use
  // have held: they are what makes it safe to ask.
  for (std::size_t i = 1; i < statement.tests.size(); ++i) {
    for (const Subject& subject : subjects_of(statement.tests[i])) {
      if (!is_worth_naming(subject) || known(subject) || uses(statement, subject) < 2) continue;
      RouteBlock::Statement outer, inner = statement;
      const auto cut = static_cast<std::ptrdiff_t>(i);
      outer.tests.assign(statement.tests.begin(), statement.tests.begin() + cut);
      inner.tests.erase(inner.tests.begin(), inner.tests.begin() + cut);
      outer.body.statements.push_back(std::move(inner));
      this->statement(outer, indent);
      return;
    }
  }
  if (!statement.tests.empty()) {
    condition(statement.tests, indent);
    indent += kStep;
  }
  if (statement.branch < 0) return block(statement.body, indent);
  const RouteBranch& branch = branches_[static_cast<std::size_t>(statement.branch)];
  line(indent, "return " + host_call(branch.host, task_));
}

void Printer::name(const Subject& subject, int indent) {
  const std::string variable = variable_for(subject);
  line(indent, fmt::format("{} = {}", variable, to_python(subject, task_.parameters)));
  variables_.emplace_back(subject, variable);
}

void Printer::block(const RouteBlock& block, int indent) {
  const std::size_t in_scope = variables_.size();
  for (const Subject& subject : shared_subjects(block)) {
    if (!known(subject)) name(subject, indent);
  }
  for (const RouteBlock::Statement& one : block.statements) {
    // The first test of a statement is evaluated in any case, so its subject may be asked before.
    const auto first = one.tests.empty() ? std::vector<Subject>{} : subjects_of(one.tests[0]);
    for (const Subject& subject : first) {
      if (is_worth_naming(subject) && !known(subject) && uses(one, subject) > 1) {
        name(subject, indent);
      }
    }
    statement(one, indent);
  }
  variables_.resize(in_scope);
}

}  // namespace

std::string print_route(const RouteBlock& tree, const std::vector<RouteBranch>& branches,
                        const Task& task, const std::string& fallback_text) {
  Printer printer(branches, task);
  printer.block(tree, 0);
  const bool total = !tree.statements.empty() && tree.statements.back().tests.empty();
  if (!total) printer.line(0, "return " + fallback_text);
  return printer.text();
}

std::string route_body(const std::vector<RouteBranch>& branches, const Task& task,
                       const std::string& fallback_text) {
  std::vector<const Case*> samples;
  for (const Case& sample : task.cases) samples.push_back(&sample);
  return print_route(build_route_tree(branches, samples), branches, task, fallback_text);
}

}  // namespace ksplit
