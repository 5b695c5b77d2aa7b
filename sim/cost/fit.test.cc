#include "sim/cost/fit.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace vringlab::sim {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSigmasOf90Percent = 2 * 1.6448536269514722;

// ln(prediction_i) = sum of exponents(i, k) * ln(parameter_k): linear in logarithms,
// so that the posterior is known in closed form.
Model power_law(const MatrixXd& exponents) {
  return [exponents](const std::vector<double>& p) {
    std::vector<double> out;
    for (Eigen::Index i = 0; i < exponents.rows(); ++i) {
      double log = 0;
      for (Eigen::Index k = 0; k < exponents.cols(); ++k)
        log += exponents(i, k) * std::log(p[static_cast<std::size_t>(k)]);
      out.push_back(std::exp(log));
    }
    return out;
  };
}

std::vector<Observation> observe(const Model& model, const std::vector<double>& truth,
                                 double sigma) {
  std::vector<Observation> observations;
  for (const double value : model(truth)) observations.push_back({"o", value, sigma});
  return observations;
}

double prior_sigma(const Parameter& p) { return std::log(p.high / p.low) / kSigmasOf90Percent; }

const std::vector<Parameter> kWide = {{"a", 0.1, 1, 10}, {"b", 1, 10, 100}, {"c", 0.01, 0.1, 1}};

MatrixXd five_observations() {
  MatrixXd exponents(5, 3);
  exponents << 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, -1, 2;
  return exponents;
}

TEST(Fit, recovers_what_made_precise_data) {
  const Model model = power_law(five_observations());
  const std::vector<double> truth = {2.5, 4, 0.3};
  const Fit fit = fit_map(kWide, observe(model, truth, 1e-4), model);
  EXPECT_TRUE(fit.converged);
  EXPECT_EQ(fit.names, (std::vector<std::string>{"a", "b", "c"}));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(fit.values[i] / truth[i], 1, 1e-5) << i;
    EXPECT_LT(fit.shrinkage(i), 1e-3) << i;
  }
  const std::vector<double> expected = model(truth);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(fit.predicted[i] / expected[i], 1, 1e-4) << i;
}

// Two cores, of which the slower bounds the rate: from the priors' middle only that of a has a
// slope. It would have to move by 2.3 of its standard deviations, b by 1.1.
TEST(Fit, finds_the_bound_that_costs_less) {
  const Model slower_of_two = [](const std::vector<double>& p) {
    return std::vector<double>{1 / std::max(p[0], p[1])};
  };
  const std::vector<Parameter> cores = {{"a", 0.5, 1, 2}, {"b", 0.095, 0.95, 9.5}};
  const Fit fit = fit_map(cores, {{"rate", 0.3, 0.01}}, slower_of_two);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.values[0], 1, 0.01);
  EXPECT_NEAR(fit.values[1] * 0.3, 1, 0.01);
}

// What is left of a linear problem has its own closed form: the same as a fit to it alone.
TEST(Fit, part_is_the_fit_to_the_rest) {
  const MatrixXd exponents = five_observations();
  const std::vector<std::size_t> kept = {0, 2, 4};
  MatrixXd rest(3, 3);
  for (Eigen::Index i = 0; i < 3; ++i)
    rest.row(i) = exponents.row(static_cast<Eigen::Index>(kept[static_cast<std::size_t>(i)]));
  const Model all_model = power_law(exponents);
  const Model rest_model = power_law(rest);
  const std::vector<Observation> all = observe(all_model, {2.5, 4, 0.3}, 0.2);
  const std::vector<Observation> others = {all[0], all[2], all[4]};
  const Fit part = fit_part(fit_map(kWide, all, all_model), kept, others, rest_model);
  const Fit alone = fit_map(kWide, others, rest_model);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(part.values[i] / alone.values[i], 1, 1e-3) << i;
    EXPECT_NEAR(part.predicted[i] / alone.predicted[i], 1, 1e-3) << i;
  }
  EXPECT_LT((part.log_covariance - alone.log_covariance).norm(), 1e-3);
  EXPECT_NEAR(part.cost, alone.cost, 1e-3);
}

// The same as one linear solve: precision = prior precision + J'J / sigma^2.
TEST(Fit, posterior_of_a_linear_problem_is_the_analytic_one) {
  constexpr double kSigma = 0.2;
  const MatrixXd exponents = five_observations();
  const Model model = power_law(exponents);
  const auto observations = observe(model, {2.5, 4, 0.3}, kSigma);
  const Fit fit = fit_map(kWide, observations, model);

  MatrixXd precision = exponents.transpose() * exponents / (kSigma * kSigma);
  VectorXd right = VectorXd::Zero(3);
  for (Eigen::Index i = 0; i < 5; ++i)
    right += exponents.row(i).transpose() *
             std::log(observations[static_cast<std::size_t>(i)].value) / (kSigma * kSigma);
  for (Eigen::Index k = 0; k < 3; ++k) {
    const Parameter& p = kWide[static_cast<std::size_t>(k)];
    const double weight = 1 / (prior_sigma(p) * prior_sigma(p));
    precision(k, k) += weight;
    right[k] += weight * std::log(p.best);
  }
  const MatrixXd covariance = precision.inverse();
  const VectorXd mode = covariance * right;
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::log(fit.values[static_cast<std::size_t>(i)]), mode[i], 1e-4) << i;
    for (Eigen::Index k = 0; k < 3; ++k)
      EXPECT_NEAR(fit.log_covariance(i, k), covariance(i, k), 1e-9) << i << ' ' << k;
  }
}

// Curved in logarithms, so that it takes more than one step.
TEST(Fit, converges_on_a_sum_of_costs) {
  const Model model = [](const std::vector<double>& p) {
    return std::vector<double>{1e9 / (p[0] + 64 * p[1]), 1e9 / (p[0] + 1500 * p[1])};
  };
  const Fit fit = fit_map({{"fixed", 50, 200, 800}, {"per_byte", 0.01, 0.1, 1}},
                          observe(model, {120, 0.05}, 1e-3), model);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.values[0], 120, 1);
  EXPECT_NEAR(fit.values[1], 0.05, 0.001);
}

// Only the product of two parameters shows in the data.
TEST(Fit, tells_what_the_data_cannot_tell_apart) {
  const MatrixXd product = MatrixXd::Ones(1, 2);
  const Model model = power_law(product);
  const std::vector<Parameter> parameters = {{"a", 0.1, 1, 10}, {"b", 0.1, 1, 10}};
  const Fit fit = fit_map(parameters, observe(model, {2, 2}, 1e-3), model);
  EXPECT_LT(fit.correlation(0, 1), -0.999);
  EXPECT_DOUBLE_EQ(fit.correlation(0, 0), 1);
  // Half of the prior variance is left to each: the data fix the sum of two equals.
  EXPECT_NEAR(fit.shrinkage(0), std::sqrt(0.5), 1e-3);
  EXPECT_NEAR(fit.values[0] * fit.values[1], 4, 0.01);
  EXPECT_NEAR(fit.values[0], fit.values[1], 0.01);
}

TEST(Fit, a_parameter_without_data_keeps_its_prior) {
  MatrixXd only_the_first(1, 2);
  only_the_first << 1, 0;
  const Model model = power_law(only_the_first);
  const std::vector<Parameter> parameters = {{"seen", 0.1, 1, 10}, {"unseen", 2, 3, 9}};
  const Fit fit = fit_map(parameters, observe(model, {2, 5}, 0.01), model);
  EXPECT_NEAR(fit.values[1], 3, 1e-6);
  EXPECT_NEAR(fit.shrinkage(1), 1, 1e-9);
  EXPECT_NEAR(fit.correlation(0, 1), 0, 1e-9);
  EXPECT_NEAR(fit.log_prior_sigma[1], prior_sigma(parameters[1]), 1e-12);
}

TEST(Fit, without_observations_it_is_the_prior) {
  const Model nothing = [](const std::vector<double>&) { return std::vector<double>(); };
  const Fit fit = fit_map(kWide, {}, nothing);
  for (std::size_t i = 0; i < kWide.size(); ++i) {
    EXPECT_NEAR(fit.values[i] / kWide[i].best, 1, 1e-12);
    EXPECT_NEAR(fit.shrinkage(i), 1, 1e-9);
  }
  EXPECT_EQ(fit.cost, 0);
}

TEST(Fit, refuses_bad_priors_by_name) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Model model = [](const std::vector<double>& p) { return p; };
  const Parameter bad[] = {
      {"zero_low", 0, 1, 2},        {"negative", -1, 1, 2},   {"low_above_best", 2, 1, 3},
      {"best_above_high", 1, 4, 3}, {"no_width", 1, 1, 1},    {"infinite", 1, 2, kInf},
      {"nan_low", kNan, 1, 2},      {"nan_best", 1, kNan, 2}, {"nan_high", 1, 1, kNan}};
  for (const Parameter& p : bad) {
    try {
      fit_map({p}, {{"o", 1, 0.1}}, model);
      ADD_FAILURE() << p.name << " was taken";
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(p.name), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(fit_map({}, {}, model), std::invalid_argument);
}

TEST(Fit, takes_a_prior_whose_best_is_one_of_its_ends) {
  const Model model = [](const std::vector<double>& p) { return p; };
  EXPECT_NO_THROW(fit_map({{"at_low", 1, 1, 2}}, {{"o", 1, 0.1}}, model));
  EXPECT_NO_THROW(fit_map({{"at_high", 1, 2, 2}}, {{"o", 1, 0.1}}, model));
}

TEST(Fit, refuses_bad_observations_and_predictions) {
  const Model model = [](const std::vector<double>& p) { return p; };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Parameter> one = {{"a", 1, 2, 4}};
  for (const Observation& o :
       {Observation{"o", 0, 0.1}, Observation{"o", -1, 0.1}, Observation{"o", kNan, 0.1},
        Observation{"o", 1, 0}, Observation{"o", 1, -0.1}, Observation{"o", 1, kNan}})
    EXPECT_THROW(fit_map(one, {o}, model), std::invalid_argument) << o.value << o.relative_sigma;
  const std::vector<Observation> good = {{"o", 1, 0.1}};
  for (const double value : {0.0, -1.0, kNan}) {
    const Model bad = [value](const std::vector<double>&) { return std::vector<double>{value}; };
    EXPECT_THROW(fit_map(one, good, bad), std::invalid_argument) << value;
  }
  const Model too_many = [](const std::vector<double>&) { return std::vector<double>{1, 1}; };
  EXPECT_THROW(fit_map(one, good, too_many), std::invalid_argument);
}

// A fit with what it was made from.
struct Fitted {
  std::vector<Observation> observations;
  Model model;
  Fit fit;

  MatrixXd draw(std::size_t count, std::uint64_t seed) const {
    return draw_posterior(fit, observations, model, count, seed);
  }
};

Fitted correlated_fit() {
  MatrixXd exponents(2, 2);
  exponents << 1, 1, 1, -0.2;
  Fitted f;
  f.model = power_law(exponents);
  f.observations = observe(f.model, {1.2, 3}, 0.1);
  f.fit = fit_map({{"a", 0.5, 1, 2}, {"b", 2, 3, 6}}, f.observations, f.model);
  return f;
}

// A time that is a sum of wide parts, known to 2 %: what a packet's time is made of.
Fitted sum_fit() {
  Fitted f;
  f.model = [](const std::vector<double>& p) { return std::vector<double>{p[0] + p[1] + p[2]}; };
  f.observations = {{"o", 190, 0.02}};
  f.fit =
      fit_map({{"a", 5, 30, 90}, {"b", 20, 60, 120}, {"c", 80, 100, 130}}, f.observations, f.model);
  return f;
}

// 20000 draws: a mean is known to 1/140 of its standard deviation, a variance to 1 %.
TEST(DrawPosterior, has_the_mean_and_covariance_of_the_fit) {
  const Fitted fitted = correlated_fit();
  const Fit& fit = fitted.fit;
  const MatrixXd draws = fitted.draw(20000, 7);
  ASSERT_EQ(draws.rows(), 20000);
  ASSERT_EQ(draws.cols(), 2);
  const MatrixXd logs = draws.array().log();
  const VectorXd mean = logs.colwise().mean();
  const MatrixXd centred = logs.rowwise() - mean.transpose();
  const MatrixXd covariance = centred.transpose() * centred / 20000;
  for (Eigen::Index i = 0; i < 2; ++i) {
    const double sigma = std::sqrt(fit.log_covariance(i, i));
    EXPECT_NEAR(mean[i], std::log(fit.values[static_cast<std::size_t>(i)]), 0.03 * sigma);
    EXPECT_NEAR(covariance(i, i), sigma * sigma, 0.05 * sigma * sigma);
  }
  EXPECT_NEAR(covariance(0, 1), fit.log_covariance(0, 1),
              0.05 * std::sqrt(fit.log_covariance(0, 0) * fit.log_covariance(1, 1)));
}

TEST(DrawPosterior, is_the_same_bits_for_the_same_seed) {
  const Fitted fitted = correlated_fit();
  const MatrixXd draws = fitted.draw(100, 3);
  EXPECT_EQ(draws, fitted.draw(100, 3));
  EXPECT_NE(draws, fitted.draw(100, 4));
  EXPECT_EQ(draws.topRows(10), fitted.draw(10, 3));
}

// Draws from the Gaussian around the maximum would give sums of 208 on average.
TEST(DrawPosterior, agrees_with_the_data_where_the_model_is_not_linear) {
  const MatrixXd draws = sum_fit().draw(2000, 5);
  const VectorXd sums = draws.rowwise().sum();
  const double mean = sums.mean();
  EXPECT_NEAR(mean, 190, 1);
  EXPECT_NEAR(std::sqrt((sums.array() - mean).square().mean()), 0.02 * 190, 0.5);
  // ... and the parts keep what freedom the sum leaves them.
  EXPECT_LT(draws.col(0).minCoeff(), 8);
  EXPECT_GT(draws.col(0).maxCoeff(), 70);
}

TEST(DrawPosterior, keeps_six_digits) {
  const MatrixXd draws = correlated_fit().draw(20, 1);
  for (const double v : draws.reshaped()) EXPECT_EQ(v, round_significant(v, 6)) << v;
}

TEST(RoundSignificant, to_decimal_digits) {
  EXPECT_EQ(round_significant(123456, 3), 123000);
  EXPECT_EQ(round_significant(123556, 3), 124000);
  EXPECT_EQ(round_significant(-0.0012345, 2), -0.0012);
  EXPECT_EQ(round_significant(9.999, 3), 10);
  EXPECT_EQ(round_significant(1000, 1), 1000);
  EXPECT_EQ(round_significant(0.15, 6), 0.15);
  EXPECT_EQ(round_significant(2.5e-9, 6), 2.5e-9);
  EXPECT_EQ(round_significant(0, 6), 0);
  EXPECT_TRUE(std::isnan(round_significant(std::numeric_limits<double>::quiet_NaN(), 6)));
  EXPECT_EQ(round_significant(std::numeric_limits<double>::infinity(), 6),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace vringlab::sim
