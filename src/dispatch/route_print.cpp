// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "dispatch/emit.h"
#include "dispatch/route_order.h"
#include "dispatch/router.h"

namespace ksplit {

namespace {

constexpr int kStep = 4;
constexpr int kBodyIndent = 8;  // of a method's statements in the emitted file
constexpr std::size_t kLineLength = 100;

// What the router may hold in a local variable: sources (route_order.h), and what is taken from
// one.
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

bool is_tuple_of_strides(const Subject& subject) {
  return subject.kind == Subject::Kind::stride && subject.dimension == kAllAxes;
}

// Variables that would serve a test, sources before what is taken from them.
std::vector<Subject> nameable(const Test& test) {
  std::vector<Subject> result;
  const auto add = [&](const Subject& subject) {
    if (is_worth_naming(subject) && !std::ranges::count(result, subject)) result.push_back(subject);
  };
  for (const Subject& subject : subjects_of(test)) {
    if (const std::optional<Subject> source = source_of(subject)) add(*source);
  }
  for (const Subject& subject : subjects_of(test)) add(subject);
  return result;
}

// Whether the test asks for the subject, or for something that is taken from it.
bool asks(const Test& test, const Subject& subject) {
  return std::ranges::any_of(subjects_of(test), [&subject](const Subject& one) {
    return one == subject || source_of(one) == subject;
  });
}

bool asks(const RouteBlock::Statement& statement, const Subject& subject) {
  const auto in_body = [&](const RouteBlock::Statement& inner) { return asks(inner, subject); };
  const auto in_test = [&](const Test& test) { return asks(test, subject); };
  return std::ranges::any_of(statement.tests, in_test) ||
         std::ranges::any_of(statement.body.statements, in_body);
}

// The subjects of all tests of a statement, each as often as it is written.
void append_questions(const RouteBlock::Statement& statement, std::vector<Subject>& questions) {
  for (const Test& test : statement.tests) {
    for (const Subject& subject : subjects_of(test)) questions.push_back(subject);
    if (test.kind == Test::Kind::axis_of) questions.push_back(test.other);
  }
  for (const RouteBlock::Statement& inner : statement.body.statements) {
    append_questions(inner, questions);
  }
}

// A variable is worth its line when it is read twice; a tuple, when two different values are taken
// from it.
bool pays(const Subject& variable, const std::vector<Subject>& questions) {
  std::vector<Subject> taken;
  for (const Subject& subject : questions) {
    const bool counts = subject == variable ||
                        (source_of(subject) == variable && !std::ranges::count(taken, subject));
    if (counts) taken.push_back(subject);
  }
  return taken.size() >= 2;
}

bool pays(const Subject& variable, const RouteBlock::Statement& statement) {
  std::vector<Subject> questions;
  append_questions(statement, questions);
  return pays(variable, questions);
}

// Whether the subject is asked somewhere in the statement with no test before it that may protect
// it: then whatever makes it safe holds outside the statement already.
bool asks_unprotected(const RouteBlock::Statement& statement, const Subject& subject) {
  for (const Test& test : statement.tests) {
    if (asks(test, subject)) return true;
    if (protects(test, subject)) return false;
  }
  return std::ranges::any_of(
      statement.body.statements,
      [&subject](const RouteBlock::Statement& inner) { return asks_unprotected(inner, subject); });
}

void append_nameable(const RouteBlock& block, std::vector<Subject>& subjects) {
  for (const RouteBlock::Statement& statement : block.statements) {
    for (const Test& test : statement.tests) {
      for (const Subject& subject : nameable(test)) {
        if (!std::ranges::count(subjects, subject)) subjects.push_back(subject);
      }
    }
    append_nameable(statement.body, subjects);
  }
}

// Subjects that two or more statements of the block ask and that are safe to ask before all of
// them: asked once there, however many branches an input passes by.
std::vector<Subject> shared_subjects(const RouteBlock& block) {
  std::vector<Subject> variables, questions, shared;
  append_nameable(block, variables);
  for (const RouteBlock::Statement& statement : block.statements) {
    append_questions(statement, questions);
  }
  for (const Subject& variable : variables) {
    const auto asking = [&](const RouteBlock::Statement& s) { return asks(s, variable); };
    const auto safe = [&](const RouteBlock::Statement& s) { return asks_unprotected(s, variable); };
    if (std::ranges::count_if(block.statements, asking) > 1 && pays(variable, questions) &&
        std::ranges::any_of(block.statements, safe)) {
      shared.push_back(variable);
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
  std::string question(const Subject& subject) const;
  std::string variable_for(const Subject& subject) const;
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

// The quickest way to ask: by index into a tuple, since a call with an argument takes several times
// as long as one without.
std::string Printer::question(const Subject& subject) const {
  using Kind = Subject::Kind;
  std::string call = to_python(subject, task_.parameters);
  const auto open = call.find('(');
  if (is_tuple_of_strides(subject)) return call.substr(0, open) + "()";
  const std::optional<Subject> source = source_of(subject);
  if (!source || *source == subject) return call;
  const std::string* variable = known(*source);
  if (subject.kind == Kind::rank) return variable ? fmt::format("len({})", *variable) : call;
  return fmt::format("{}[{}]", variable ? *variable : question(*source),
                     call.substr(open + 1, call.size() - open - 2));
}

// x.size(dim) -> x_size_dim, x.size(-1) -> x_size_m1, x.dim() -> x_dim.
std::string Printer::variable_for(const Subject& subject) const {
  std::string name;
  const std::string call = to_python(subject, task_.parameters);
  for (const char c : is_tuple_of_strides(subject) ? call.substr(0, call.find('(')) + "s" : call) {
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
    const std::string* variable = known(subject);
    text = replaced(std::move(text), to_python(subject, task_.parameters),
                    variable ? *variable : question(subject));
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
    for (const Subject& subject : nameable(statement.tests[i])) {
      if (known(subject) || !pays(subject, statement)) continue;
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
  line(indent, fmt::format("{} = {}", variable, question(subject)));
  variables_.emplace_back(subject, variable);
}

void Printer::block(const RouteBlock& block, int indent) {
  const std::size_t in_scope = variables_.size();
  for (const Subject& subject : shared_subjects(block)) {
    if (!known(subject)) name(subject, indent);
  }
  for (const RouteBlock::Statement& one : block.statements) {
    // The first test of a statement is evaluated in any case, so its subject may be asked before.
    const auto first = one.tests.empty() ? std::vector<Subject>{} : nameable(one.tests[0]);
    for (const Subject& subject : first) {
      if (!known(subject) && pays(subject, one)) name(subject, indent);
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
  samples.reserve(task.cases.size());
  for (const Case& sample : task.cases) samples.push_back(&sample);
  return print_route(build_route_tree(branches, samples), branches, task, fallback_text);
}

}  // namespace ksplit
