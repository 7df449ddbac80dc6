// SPDX-License-Identifier: Apache-2.0
#include "judge/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace ksplit {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An output as accurate as rounding to float32 allows, on values of size one.
OutputAccuracy good_output() {
  OutputAccuracy output;
  output.dtype = "float32";
  output.shape = {64, 64};
  output.elements = 4096;
  output.dtype_equal = output.shape_equal = output.strides_equal = true;
  output.nan_equal = output.inf_equal = true;
  output.mere = 1e-8;
  output.mare = 1e-7;
  output.golden = OutputAccuracy::Golden::float64;
  output.rmse = 1e-7;
  output.max_error = 4e-7;
  output.golden_rms = 1;
  return output;
}

VerifyOutcome outcome(std::vector<OutputAccuracy> cases) {
  VerifyOutcome result;
  int index = 0;
  for (OutputAccuracy& output : cases) {
    result.cases.push_back({++index, std::nullopt, {}, {std::move(output)}});
  }
  return result;
}

VerifyOutcome one_case(const std::function<void(OutputAccuracy&)>& change) {
  OutputAccuracy output = good_output();
  change(output);
  return outcome({output});
}

const VerifyOutcome kGood = outcome({good_output()});

TEST(Rules, ArePublishedOnes) {
  EXPECT_EQ(rule_for("float32").rtol, std::exp2(-13));
  EXPECT_EQ(rule_for("float32").atol, 1e-5);
  EXPECT_EQ(rule_for("float16").rtol, std::exp2(-10));
  EXPECT_EQ(rule_for("float16").atol, 1e-3);
  EXPECT_EQ(rule_for("bfloat16").t, std::exp2(-7));
  EXPECT_EQ(rule_for("float8_e4m3fn").t, std::exp2(-3));
  EXPECT_EQ(rule_for("float8_e5m2").t, std::exp2(-2));
  EXPECT_EQ(rule_for("int64").rtol, 0);
  EXPECT_EQ(rule_for("bool").atol, 0);
  EXPECT_EQ(rules_for({"float16", "int8", "float16"}).size(), 2U);
}

struct Fault {
  const char* name;
  std::function<void(OutputAccuracy&)> change;
  const char* reason;  // what the verdict must say
};

class RefusedCandidate : public testing::TestWithParam<Fault> {};

TEST_P(RefusedCandidate, NamesTheGate) {
  const AccuracyVerdict verdict = judge_accuracy(one_case(GetParam().change), kGood);
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(verdict.reason.find(GetParam().reason), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("case 1"), std::string::npos) << verdict.reason;
  EXPECT_FALSE(verdict.cases.at(0).passed);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, RefusedCandidate,
    testing::Values(
        Fault{"dtype", [](auto& o) { o.dtype_equal = false, o.dtype = "float64"; },
              "dtype is float64"},
        Fault{"shape",
              [](auto& o) {
                o.shape_equal = false, o.shape = {32, 128};
              },
              "[32, 128]"},
        Fault{"strides", [](auto& o) { o.strides_equal = false; }, "strides"},
        Fault{"inputs", [](auto& o) { o.changed_inputs = {"x"}; }, "changes the inputs [x]"},
        Fault{"alias", [](auto& o) { o.aliased_inputs = {"x"}; },
              "in the memory of the inputs [x]"},
        Fault{"nan", [](auto& o) { o.nan_equal = false; }, "NaN"},
        Fault{"inf", [](auto& o) { o.inf_equal = false; }, "Inf"},
        Fault{"rule",
              [](auto& o) {
                o.violations = 3;
                o.worst = OutputAccuracy::Worst{17, 1.5, 1.0};
              },
              "3 of 4096 elements beyond 1e-05 + 0.000122 |expected|: element 17 is 1.5, expected "
              "1.0"},
        Fault{"rmse", [](auto& o) { o.rmse = 3e-7; }, "RMSE 3e-07 is 3 times the base's 1e-07"},
        Fault{"max", [](auto& o) { o.max_error = 3e-6; }, "largest error 3e-06 is 7.5 times"},
        Fault{"rmse is no number", [](auto& o) { o.rmse = kNan; }, "RMSE nan"},
        Fault{"max is no number", [](auto& o) { o.max_error = kNan; }, "largest error nan"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Accuracy, ClassFollowsTheErrorRatio) {
  const auto reached = [](double factor) {
    return judge_accuracy(one_case([&](auto& o) { o.rmse *= factor, o.max_error *= factor; }),
                          kGood)
        .reached;
  };
  EXPECT_EQ(reached(0.5), AccuracyClass::strict);
  EXPECT_EQ(reached(1.0), AccuracyClass::strict);
  EXPECT_EQ(reached(1.5), AccuracyClass::same_class);
  EXPECT_EQ(reached(2.3), std::nullopt);
}

TEST(Accuracy, BitwiseWhereBothEqualTheReference) {
  const VerifyOutcome exact = one_case([](auto& o) { o.bit_equal_native = true; });
  EXPECT_EQ(judge_accuracy(exact, exact).reached, AccuracyClass::bitwise);
  EXPECT_EQ(judge_accuracy(exact, kGood).reached, AccuracyClass::strict);
}

TEST(Accuracy, RequiredClassIsEnforced) {
  const VerifyOutcome coarser = one_case([](auto& o) { o.rmse *= 1.5; });
  EXPECT_TRUE(judge_accuracy(coarser, kGood, AccuracyClass::same_class).passed());
  EXPECT_FALSE(judge_accuracy(coarser, kGood, AccuracyClass::strict).passed());
  const AccuracyVerdict verdict = judge_accuracy(kGood, kGood, AccuracyClass::bitwise);
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(verdict.reason.find("bit-equal"), std::string::npos);
}

TEST(Accuracy, FloorForgivesWhatRoundingTheOutputDoes) {
  // float16 near 1: half a unit in the last place is 2^-11, so errors far below are no yardstick.
  const auto half = [](double rmse) {
    return one_case([&](auto& o) { o.dtype = "float16", o.rmse = rmse, o.max_error = 3 * rmse; });
  };
  EXPECT_TRUE(judge_accuracy(half(2e-4), half(1e-6)).passed());
  EXPECT_FALSE(judge_accuracy(half(2e-3), half(1e-6)).passed());
}

TEST(Accuracy, FewElementsMayDifferByChance) {
  const auto of_size = [](std::int64_t elements, double factor) {
    return one_case(
        [&](auto& o) { o.elements = elements, o.rmse *= factor, o.max_error *= factor; });
  };
  EXPECT_TRUE(judge_accuracy(of_size(1, 10), of_size(1, 1)).passed());
  EXPECT_FALSE(judge_accuracy(of_size(1, 100), of_size(1, 1)).passed());
  EXPECT_FALSE(judge_accuracy(of_size(1 << 20, 2.1), of_size(1 << 20, 1)).passed());
}

TEST(Accuracy, ManySmallCasesArePooled) {
  // Each case alone may be off by chance; that all are is none.
  OutputAccuracy base = good_output(), candidate = good_output();
  base.elements = candidate.elements = 16;
  candidate.rmse = 3 * base.rmse;
  const std::vector<OutputAccuracy> few(1, candidate), many(200, candidate);
  EXPECT_TRUE(judge_accuracy(outcome(few), outcome({base})).passed());
  const AccuracyVerdict verdict =
      judge_accuracy(outcome(many), outcome(std::vector<OutputAccuracy>(200, base)));
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(verdict.reason.find("over all cases"), std::string::npos) << verdict.reason;
}

TEST(Accuracy, IntegersAreExactEvenWhereTheBaseIsNot) {
  const auto integers = [](std::int64_t violations) {
    return one_case([&](auto& o) { o.dtype = "int32", o.violations = violations; });
  };
  EXPECT_TRUE(judge_accuracy(integers(0), integers(0)).passed());
  EXPECT_FALSE(judge_accuracy(integers(1), integers(0)).passed());
  EXPECT_FALSE(judge_accuracy(integers(1), integers(1)).passed());
}

TEST(Accuracy, RuleIsNotDemandedWhereTheBaseBreaksIt) {
  const VerifyOutcome cancelling = one_case([](auto& o) { o.violations = 2; });
  EXPECT_TRUE(judge_accuracy(cancelling, cancelling).passed());
  EXPECT_FALSE(judge_accuracy(cancelling, cancelling).cases[0].elementwise);
  EXPECT_TRUE(judge_accuracy(cancelling, cancelling).cases[0].mere_mare);
}

TEST(Accuracy, OutputsWithoutFiniteElementsHaveNoErrorToCompare) {
  const VerifyOutcome all_nan =
      one_case([](auto& o) { o.rmse = o.max_error = o.golden_rms = kNan; });
  EXPECT_TRUE(judge_accuracy(all_nan, all_nan).passed());
  const VerifyOutcome wrong = one_case([](auto& o) {
    o.rmse = o.max_error = o.golden_rms = kNan;
    o.violations = 1;
  });
  EXPECT_FALSE(judge_accuracy(wrong, wrong).passed());
}

TEST(Accuracy, InPlaceOperatorsMayChangeWhatTheBaseChanges) {
  const VerifyOutcome in_place = one_case([](auto& o) { o.changed_inputs = {"x"}; });
  EXPECT_TRUE(judge_accuracy(in_place, in_place).passed());
  EXPECT_FALSE(judge_accuracy(kGood, in_place).passed());
}

TEST(Accuracy, NoAccessOutsideTheTensorsUnlessTheBaseHasOne) {
  VerifyOutcome strayed = kGood;
  strayed.cases[0].fault = "load of 4 bytes out of bounds";
  EXPECT_EQ(judge_accuracy(strayed, kGood).reason, "case 1: load of 4 bytes out of bounds");
  EXPECT_TRUE(judge_accuracy(strayed, strayed).passed());
  EXPECT_TRUE(judge_accuracy(kGood, strayed).passed());
  EXPECT_TRUE(judge_base(strayed)) << "told, but no reason to stop";
}

TEST(Accuracy, RaisingAndMissingOutputsAreRefused) {
  VerifyOutcome raised = kGood;
  raised.cases[0] = {1, CaseError{ErrorCode::candidate_failed, "IndexError: out of range"}, {}, {}};
  EXPECT_EQ(judge_accuracy(raised, kGood).reason, "case 1: IndexError: out of range");
  VerifyOutcome two = kGood;
  two.cases[0].outputs.push_back(good_output());
  EXPECT_NE(judge_accuracy(kGood, two).reason.find("1 outputs, the base has 2"), std::string::npos);
  EXPECT_FALSE(judge_accuracy(VerifyOutcome{}, kGood).passed());
}

TEST(Accuracy, SaysWhichOutputAndHowManyCases) {
  VerifyOutcome base, candidate;
  OutputAccuracy bad = good_output();
  bad.nan_equal = false;
  for (int index = 1; index <= 3; ++index) {
    base.cases.push_back({index, std::nullopt, {}, {good_output(), good_output()}});
    candidate.cases.push_back({index, std::nullopt, {}, {good_output(), bad}});
  }
  EXPECT_EQ(judge_accuracy(candidate, base).reason,
            "case 1: output 1: NaN in other places than the reference (and 2 more cases)");
}

TEST(Base, PassesByEitherPublishedRule) {
  EXPECT_TRUE(judge_base(kGood));
  EXPECT_TRUE(judge_base(one_case([](auto& o) { o.violations = 2; })));
  EXPECT_TRUE(judge_base(one_case([](auto& o) { o.mere = o.mare = 1; })));
  EXPECT_TRUE(judge_base(one_case([](auto& o) { o.strides_equal = false; })));
  EXPECT_FALSE(judge_base(one_case([](auto& o) { o.violations = 2, o.mare = 1, o.rmse = 1; })));
}

TEST(Base, SumsThatCancelAreJudgedByTheSizeOfTheOutput) {
  const auto cancelling = [](double rmse, double max_error) {
    return one_case([&](auto& o) {
      o.violations = 2, o.mare = 1;
      o.golden_rms = 10, o.rmse = rmse, o.max_error = max_error;
    });
  };
  EXPECT_TRUE(judge_base(cancelling(1e-6, 1e-5)));
  EXPECT_FALSE(judge_base(cancelling(10, 20)));    // zeros, say
  EXPECT_FALSE(judge_base(cancelling(1e-6, 10)));  // one element is wrong
  EXPECT_FALSE(judge_base(one_case([](auto& o) { o.dtype = "int64", o.violations = 1; })));
}

TEST(Base, AKernelThatIsNotCoveredIsNotCalledInaccurate) {
  VerifyOutcome base = kGood;
  base.cases[0] = {1, CaseError{ErrorCode::unsupported, "tt.dot_scaled at k.py:7"}, {}, {}};
  const auto status = judge_base(base);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(status.error().message,
            "the generic kernel cannot run here; case 1: tt.dot_scaled at k.py:7");
}

TEST(Base, EveryFailingCaseIsNamed) {
  OutputAccuracy wrong = good_output(), shape = good_output();
  wrong.violations = 5, wrong.mere = 1, wrong.rmse = 1;
  shape.shape_equal = false;
  const Status status = judge_base(outcome({good_output(), wrong, good_output(), shape}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::base_inaccurate);
  EXPECT_NE(status.error().message.find("2 of 4 cases; case 2: 5 of 4096"), std::string::npos)
      << status.error().message;
  EXPECT_NE(status.error().message.find("case 4: shape is [64, 64]"), std::string::npos);
}

}  // namespace
}  // namespace ksplit
