// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "stages/version.h"

namespace ksplit::cli {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 done (also when the trigger says skip), 1 the answer is no (verification or\n"
    "integration failed), 2 usage, input or environment, 130 interrupted.\n"
    "Documentation: README.md and docs/ of the source.";

/// What the options of every command are read into.
struct Raw {
  std::string directory = ".";
  std::string base, task, perf, out;
  std::string trigger = "contract";
  std::string objective = "both";
  bool force = false;
  double budget_s = 0;
  std::string implementation;
  double timeout_s = 300;
  CompatFiles verify, benchmark;
};

/// Names of the workflow's scripts as strings: CLI11 reads a path option in pieces.

void add_inputs(CLI::App& command, Raw& raw, Arguments& arguments) {
  Options& options = arguments.options;
  command.add_option("DIR", raw.directory, "work directory: base_kernel.py, task_desc.py, output/")
      ->required();
  constexpr const char* kInput = "Input";
  command.add_option("--base", raw.base, "generic kernel [DIR/base_kernel.py]")->group(kInput);
  command.add_option("--task", raw.task, "reference and cases [DIR/task_desc.py]")->group(kInput);
  command
      .add_option("--perf", raw.perf,
                  "measured performance of the base [DIR/output/optimized_perf_result.json, else "
                  "DIR/output/perf_result.json, else measured]")
      ->group(kInput);
  command.add_option("--op-name", options.op_name, "name of the operator [the task's]")
      ->group(kInput);
  constexpr const char* kDevice = "Device";
  command.add_option("--device", options.device, "cpu, cuda, cuda:N or npu [cpu]")
      ->group(kDevice)
      ->check(CLI::IsMember({"cpu", "cuda", "npu"}) |
              CLI::Validator(
                  [](std::string& word) {
                    const bool numbered =
                        word.rfind("cuda:", 0) == 0 && word.size() > 5 &&
                        word.find_first_not_of("0123456789", 5) == std::string::npos;
                    return numbered ? std::string() : "expected cpu, cuda, cuda:N or npu";
                  },
                  ""));
  command
      .add_option("--python", options.python,
                  "Python that has torch and Triton [$KSPLIT_PYTHON, $VIRTUAL_ENV, python3]")
      ->group(kDevice);
  command.add_option("--seed", options.seed, "seed of the inputs and schedules [0]")
      ->group(kDevice);
  command.add_flag("--json", arguments.json, "machine-readable result on standard output")
      ->group("Output");
}

void add_planning(CLI::App& command, Raw& raw, Options& options) {
  command
      .add_option("--experience", options.experience,
                  "rule file to try before the built-in ones; may be repeated")
      ->group("Selection");
  command.add_option("--out", raw.out, "result folder [DIR/output/split]")->group("Output");
}

void add_split(CLI::App& command, Raw& raw, Options& options) {
  constexpr const char* kSelection = "Selection";
  command
      .add_option("--trigger", raw.trigger,
                  "when to split: contract (several cases and a mean below 0.8x torch), any-case "
                  "(some case below 0.8x), always")
      ->group(kSelection);
  command.add_flag("--force", raw.force, "the same as --trigger always")->group(kSelection);
  command
      .add_option("--profile", options.profile,
                  "device profile to generate for: a built-in name or a TOML file [by device]")
      ->group(kSelection);
  constexpr const char* kMeasure = "Measure";
  command
      .add_option("--objective", raw.objective,
                  "what a win is: both, device (users who replay graphs) or latency")
      ->group(kMeasure)
      ->check(CLI::IsMember({"both", "device", "latency"}));
  command.add_option("--budget", raw.budget_s, "seconds after which no further group is timed")
      ->group(kMeasure)
      ->check(CLI::PositiveNumber);
  command.add_option("--jobs", options.jobs, "processes that verify side by side [by core count]")
      ->group(kMeasure)
      ->check(CLI::PositiveNumber);
}

Result<Arguments> finish(Arguments arguments, const Raw& raw) {
  Options& options = arguments.options;
  options.work_directory = raw.directory;
  const auto or_default = [&](const std::string& given, const char* name) {
    return given.empty() ? options.work_directory / name : std::filesystem::path(given);
  };
  options.base = or_default(raw.base, "base_kernel.py");
  options.task = or_default(raw.task, "task_desc.py");
  options.out = or_default(raw.out, "output/split");
  if (!raw.perf.empty()) options.perf = raw.perf;
  if (raw.budget_s > 0) options.budget_s = raw.budget_s;
  KSPLIT_TRY(options.trigger, parse_trigger(raw.trigger));
  if (raw.force) options.trigger = Trigger::always;
  static const std::map<std::string, Objective> kObjectives = {
      {"both", Objective::both}, {"device", Objective::device}, {"latency", Objective::latency}};
  options.objective = kObjectives.at(raw.objective);
  arguments.implementation = raw.implementation;
  return arguments;
}

}  // namespace

Result<Parsed> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  Raw raw;
  CLI::App app{
      "ksplit: from one generic Triton kernel to specialised ones behind a router,\n"
      "each proven accurate and measured not slower, in one self-contained file"};
  app.set_version_flag("--version", std::string("ksplit ") + kVersion);
  app.require_subcommand(1);
  app.footer(kFooter);
  const std::vector<std::pair<Command, CLI::App*>> commands = {
      {Command::split, app.add_subcommand("split", "make split_kernel.py")},
      {Command::plan, app.add_subcommand("plan", "group the cases and stop after groups.json")},
      {Command::verify, app.add_subcommand("verify", "check an implementation's accuracy")},
      {Command::bench, app.add_subcommand("bench", "time an implementation beside torch")},
  };
  for (const auto& [command, sub] : commands) {
    add_inputs(*sub, raw, arguments);
    if (command == Command::split || command == Command::plan) {
      add_planning(*sub, raw, arguments.options);
    } else {
      sub->add_option("FILE", raw.implementation, "file with a class ModelNew")->required();
    }
    if (command == Command::split) add_split(*sub, raw, arguments.options);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return Parsed{{}, chosen.empty() ? app.help() : chosen.front()->help("ksplit")};
  } catch (const CLI::CallForVersion&) {
    return Parsed{{}, app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::usage, error.what(), "`ksplit --help` lists commands and options");
  }
  for (const auto& [command, sub] : commands) {
    if (sub->parsed()) arguments.command = command;
  }
  KSPLIT_TRY(arguments, finish(std::move(arguments), raw));
  return Parsed{std::move(arguments), {}};
}

}  // namespace ksplit::cli
