// Maximum of posterior by Levenberg-Marquardt: log-normal priors on positive
// parameters, log-normal noise on positive observations, and any model in between.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vringlab::sim {

// low..high is a 5-95 % range around the median `best`. A parameter whose range
// has no width is fixed and must not be given.
struct Parameter {
  std::string name;
  double low = 0;
  double best = 0;
  double high = 0;
};

struct Observation {
  std::string id;
  double value = 0;
  double relative_sigma = 0;  // standard deviation of ln(value)
};

// Predicts all observations from all parameters, in natural units.
using Model = std::function<std::vector<double>(const std::vector<double>&)>;

struct Fit {
  std::vector<std::string> names;   // of parameters
  std::vector<double> values;       // at the maximum of posterior, natural units
  Eigen::VectorXd log_prior_mean;   // prior mean of ln(parameter)
  Eigen::VectorXd log_prior_sigma;  // prior standard deviation of ln(parameter)
  Eigen::MatrixXd log_jacobian;     // of ln(observation) by ln(parameter), at `values`
  Eigen::MatrixXd log_covariance;   // of ln(parameter), Laplace approximation
  std::vector<double> predicted;    // observations at `values`
  double cost = 0;                  // half the sum of squared residuals, priors included
  int iterations = 0;
  bool converged = false;

  // Posterior over prior standard deviation: 1 where the data say nothing.
  double shrinkage(std::size_t parameter) const;
  // Correlation of two parameters' logarithms in the posterior.
  double correlation(std::size_t a, std::size_t b) const;
};

// The lowest of the minima that descents from several starts find: the prior's middle, and the
// high end of each parameter whose range is wider than a factor of 30.
// Throws std::invalid_argument for a prior that isn't 0 < low <= best <= high
// with low < high, for an observation that isn't positive, and for a prediction
// that isn't.
Fit fit_map(const std::vector<Parameter>& parameters, const std::vector<Observation>& observations,
            const Model& model);

// `count` draws from the posterior of a fit, one row each, rounded to six
// significant digits. Each is the maximum of posterior for prior means and
// observations that are themselves drawn (randomised maximum likelihood): exact
// where the model is linear in logarithms, and unlike draws from `log_covariance` it
// agrees with the observations where it isn't.
Eigen::MatrixXd draw_posterior(const Fit& fit, const std::vector<Observation>& observations,
                               const Model& model, std::size_t count, std::uint64_t seed);

// The fit to some of the observations, which in `fit` are the rows `kept`: the maximum by the
// steps of a draw from there, so that it costs a few predictions. Its covariance is by the
// Jacobian of `fit`.
Fit fit_part(const Fit& fit, const std::vector<std::size_t>& kept,
             const std::vector<Observation>& observations, const Model& model);

// To `digits` significant decimal digits.
double round_significant(double value, int digits);

}  // namespace vringlab::sim
