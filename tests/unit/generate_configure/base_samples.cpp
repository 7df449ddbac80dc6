// SPDX-License-Identifier: Apache-2.0
#include "base_samples.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/files.h"
#include "source.h"

namespace ksplit::test {
namespace {

Argument argument(const std::string& name, TensorSpec spec) {
  return {name, std::move(spec)};
}
Argument argument(const std::string& name, Literal value) {
  return {name, std::move(value)};
}

Sample sample_of(const std::string& op_name, const std::string& base,
                 std::vector<Parameter> parameters) {
  Sample sample;
  sample.task.op_name = op_name;
  sample.task.parameters = std::move(parameters);
  sample.group.group_id = "grp_small";
  sample.base = module_of(base);
  sample.profile.name = "test";
  sample.profile.kind = "gpu";
  sample.profile.warps = {2, 4, 8};
  sample.profile.stages = {2, 3};
  sample.profile.fast_memory_bytes = 1 << 18;
  return sample;
}

void add_case(Sample& sample, std::vector<Argument> inputs, std::vector<Launch> launches) {
  const int index = static_cast<int>(sample.task.cases.size()) + 1;
  sample.task.cases.push_back({index, std::move(inputs)});
  sample.group.case_indices.push_back(index);
  sample.traces.push_back({index, std::move(launches)});
}

Launch launch(const std::string& kernel, std::vector<LaunchArgument> arguments) {
  Launch launch;
  launch.kernel = kernel;
  launch.arguments = std::move(arguments);
  return launch;
}

}  // namespace

GeneratorContext Sample::context() const {
  GeneratorContext context{task, group, {}, {}, facts, base, profile};
  for (const Case& sample : task.cases) context.cases.push_back(&sample);
  for (const LaunchTrace& trace : traces) context.traces.push_back(&trace);
  return context;
}

TensorSpec tensor(std::vector<std::int64_t> shape, const std::string& dtype) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    spec.strides[i] = stride;
    stride *= shape[i];
  }
  spec.shape = std::move(shape);
  return spec;
}

LaunchArgument value(const std::string& name, Literal value) {
  LaunchArgument argument;
  argument.name = name;
  argument.value = std::move(value);
  return argument;
}

LaunchArgument constant(const std::string& name, Literal value) {
  LaunchArgument argument = test::value(name, std::move(value));
  argument.constexpr_parameter = true;
  return argument;
}

LaunchArgument pointer(const std::string& name) {
  LaunchArgument argument;
  argument.name = name;
  argument.value = tensor({16});
  return argument;
}

std::string base_text(const std::string& name) {
  const Result<std::string> text = read_file(std::filesystem::path(KSPLIT_SOURCE_DIR) / "tests" /
                                             "golden" / "emit" / "base" / name);
  EXPECT_TRUE(text.has_value()) << name;
  return text.value_or("");
}

Sample small_sample(const std::string& base, std::vector<Launch> launches) {
  Sample sample = sample_of("op", base, {{"x", Parameter::Kind::positional, ""}});
  add_case(sample, {argument("x", tensor({4, 100}))}, std::move(launches));
  return sample;
}

Sample row_sum_sample() {
  Sample sample = sample_of(
      "sum", base_text("row_sum.py"),
      {{"x", Parameter::Kind::positional, ""}, {"scale", Parameter::Kind::positional, "SCALE"}});
  for (const std::int64_t rows : {4, 32}) {
    add_case(
        sample, {argument("x", tensor({rows, 100})), argument("scale", Literal(0.5))},
        {launch("row_sum", {pointer("x_ptr"), pointer("out_ptr"), value("n_cols", 100),
                            value("stride", 100), value("scale", 0.5), constant("BLOCK", 64)})});
  }
  return sample;
}

Sample layers_sample() {
  Sample sample = sample_of("bias_relu", base_text("layers.py"),
                            {{"x", Parameter::Kind::positional, ""},
                             {"y", Parameter::Kind::positional, ""},
                             {"activate", Parameter::Kind::keyword_only, "True"}});
  for (const std::int64_t n : {1000, 3000}) {
    add_case(sample,
             {argument("x", tensor({n})), argument("y", tensor({n})),
              argument("activate", Literal(true))},
             {launch("add_kernel", {pointer("x_ptr"), pointer("y_ptr"), pointer("out_ptr"),
                                    value("n", n), constant("BLOCK", 128)}),
              launch("relu_kernel", {pointer("x_ptr"), pointer("out_ptr"), value("n", n),
                                     constant("BLOCK", 256)})});
  }
  return sample;
}

Sample tuned_sample() {
  Sample sample = sample_of(
      "scale", base_text("tuned.py"),
      {{"x", Parameter::Kind::positional, ""}, {"alpha", Parameter::Kind::positional, "2.0"}});
  Launch tuned =
      launch("scale_kernel", {pointer("x_ptr"), pointer("out_ptr"), value("n", 512),
                              value("alpha", 2.0), constant("BLOCK", 256), constant("EVEN", true)});
  tuned.num_warps = 1;
  tuned.autotuned = true;
  add_case(sample, {argument("x", tensor({2, 256})), argument("alpha", Literal(2.0))}, {tuned});
  return sample;
}

}  // namespace ksplit::test
