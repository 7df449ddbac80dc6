// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/version.h"

namespace ksplit::cli {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 done (also when the trigger says skip), 1 the answer is no (verification or\n"
    "integration failed), 2 usage, input or environment, 130 interrupted.\n"
    "Documentation: README.md and docs/ of the source.";

constexpr double kLongest = 1e9;  // seconds: a limit that never comes

/// What the options of every command are read into.
struct Raw {
  std::string directory = ".";
  std::string base, task, perf, out;
  std::string trigger = "contract";
  std::string objective = "both";
  bool force = false;
  double budget_s = 0;
  std::string implementation;
  double timeout_s = 300;                   // compat-verify
  std::string output;                       // compat-*
  std::optional<double> framework_latency;  // compat-benchmark
};

struct NamedCommand {
  Command command;
  const char* name;
  const char* does;
};
constexpr NamedCommand kCommands[] = {
    {Command::split, "split", "make split_kernel.py"},
    {Command::plan, "plan", "group the cases and stop after groups.json"},
    {Command::verify, "verify", "check an implementation's accuracy"},
    {Command::bench, "bench", "time an implementation beside torch"},
    {Command::compat_verify, "compat-verify",
     "what `python -m ksplit.verify` runs: the workflow's verify.py"},
    {Command::compat_benchmark, "compat-benchmark",
     "what `python -m ksplit.benchmark` runs: the workflow's benchmark.py"},
};

CLI::Validator device_check(std::vector<std::string> words) {
  return CLI::IsMember(std::move(words)) |
         CLI::Validator(
             [](std::string& word) {
               const bool numbered = word.rfind("cuda:", 0) == 0 && word.size() > 5 &&
                                     word.find_first_not_of("0123456789", 5) == std::string::npos;
               return numbered ? std::string() : "expected cpu, cuda, cuda:N or npu";
             },
             "");
}

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
      ->check(device_check({"cpu", "cuda", "npu"}));
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

void add_compat_input(CLI::App& command, CompatInput& input, Raw& raw, const char* result) {
  command.group("The workflow's scripts");
  command.add_option("--op_name", input.op_name, "name of the operator, OP")
      ->required()
      ->type_name("OP");
  command
      .add_option("--verify_dir", input.directory,
                  "folder with OP_torch.py (class Model and the cases) and OP_NAME.py (class "
                  "ModelNew) [.]")
      ->type_name("DIR");
  command
      .add_option("--triton_impl_name", input.implementation_name,
                  "NAME of the implementation [triton_ascend_impl]")
      ->type_name("NAME");
  command.add_option("--output", raw.output, std::string("result file [DIR/") + result + "]")
      ->type_name("FILE");
  command.add_option("--device", input.device, "cpu, cuda, cuda:N or npu [cuda if torch sees one]")
      ->check(device_check({"auto", "cpu", "cuda", "npu"}));
}

void add_compat_verify(CLI::App& command, CompatVerify& options, Raw& raw) {
  add_compat_input(command, options.input, raw,
                   "verify_result_X.json for NAME triton_X, verify_result.json for "
                   "triton_ascend_impl");
  command
      .add_option("--timeout", raw.timeout_s,
                  "seconds for all that the two files do on all cases together [300]")
      ->check(CLI::PositiveNumber);
  command.footer("Exit status: 0 every case passed, 1 otherwise, 130 interrupted.");
}

void add_compat_benchmark(CLI::App& command, CompatBenchmark& options, Raw& raw) {
  add_compat_input(command, options.input, raw,
                   "perf_result_X.json for NAME triton_X, perf_result.json for "
                   "triton_ascend_impl");
  command.add_option("--warmup", options.warmup, "calls before those that count, each case [5]")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--repeats", options.repeats, "calls that are timed, each case [50]")
      ->check(CLI::PositiveNumber);
  command.add_flag("--skip_framework", options.skip_framework, "time the implementation alone");
  command.add_option("--framework_latency_ms", raw.framework_latency,
                     "with --skip_framework: torch's time on a case, measured elsewhere");
  command.add_flag("--verify_not_required", options.verify_not_required,
                   "time it without a verify result in which every case passed");
  command.footer(
      "Exit status: 0 the result is written, whatever it says; 2 refused: no verify result in\n"
      "which every case passed; 1 anything else; 130 interrupted.");
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
  arguments.compat_verify.limit =
      std::chrono::milliseconds(static_cast<std::int64_t>(std::min(raw.timeout_s, kLongest) * 1e3));
  arguments.compat_benchmark.framework_latency_ms = raw.framework_latency;
  if (!raw.output.empty()) {
    arguments.compat_verify.output = arguments.compat_benchmark.output = raw.output;
  }
  return arguments;
}

void add_options(CLI::App& sub, Command command, Raw& raw, Arguments& arguments) {
  if (command == Command::compat_verify) {
    return add_compat_verify(sub, arguments.compat_verify, raw);
  }
  if (command == Command::compat_benchmark) {
    return add_compat_benchmark(sub, arguments.compat_benchmark, raw);
  }
  add_inputs(sub, raw, arguments);
  if (command == Command::split || command == Command::plan) {
    add_planning(sub, raw, arguments.options);
  } else {
    sub.add_option("FILE", raw.implementation, "file with a class ModelNew")->required();
  }
  if (command == Command::split) add_split(sub, raw, arguments.options);
}

}  // namespace

bool is_compat(Command command) {
  return command == Command::compat_verify || command == Command::compat_benchmark;
}

Command named_command(int argc, const char* const* argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const auto* found = std::ranges::find(kCommands, word, &NamedCommand::name);
  return found == std::end(kCommands) ? Command::split : found->command;
}

Result<Parsed> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  Raw raw;
  CLI::App app{
      "ksplit: from one generic Triton kernel to specialised ones behind a router,\n"
      "each proven accurate and measured not slower, in one self-contained file"};
  app.set_version_flag("--version", std::string("ksplit ") + kVersion);
  app.require_subcommand(1);
  app.footer(kFooter);
  std::vector<std::pair<Command, CLI::App*>> commands;
  for (const auto& [command, name, does] : kCommands) {
    commands.emplace_back(command, app.add_subcommand(name, does));
    add_options(*commands.back().second, command, raw, arguments);
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
