#include "sim/cost/fit.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "sim/cost/random.h"

namespace vringlab::sim {
namespace {

constexpr double kSigmasOf90Percent = 2 * 1.6448536269514722;  // 5 % to 95 % of a normal
constexpr double kStep = 0.05;       // in ln(parameter), for central differences
constexpr double kConverged = 1e-4;  // in ln(parameter), largest move of a step
constexpr int kMaxIterations = 60;
constexpr double kFirstDamping = 1e-3;
constexpr double kMaxDamping = 1e8;
constexpr double kHardlyKnown = 30;  // high over low of a prior
constexpr double kBetter = 0.01;     // of a cost: more than a second descent to the same minimum
constexpr double kDrawn = 0.05;      // standard deviations of an observation, last move of a draw
constexpr double kMaxMove = 3;       // prior standard deviations, a step of a draw
constexpr int kMaxDrawSteps = 10;

using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const Parameter& p) {
  const bool ordered = p.low > 0 && p.low <= p.best && p.best <= p.high && p.low < p.high;
  if (!ordered || !std::isfinite(p.high))
    throw std::invalid_argument("prior of \"" + p.name + "\": must be 0 < low <= best <= high, " +
                                "low < high, and finite");
}

void check(const Observation& o) {
  if (!(o.value > 0 && std::isfinite(o.value) && o.relative_sigma > 0 &&
        std::isfinite(o.relative_sigma)))
    throw std::invalid_argument("observation \"" + o.id +
                                "\": value and relative_sigma must be positive and finite");
}

// The model at logarithms of parameters, checked.
std::vector<double> predict_at(const Model& model, const VectorXd& x, std::size_t observations) {
  std::vector<double> natural;
  for (const double v : x) natural.push_back(std::exp(v));
  std::vector<double> predicted = model(natural);
  if (predicted.size() != observations)
    throw std::invalid_argument("model: one prediction per observation is needed");
  for (const double value : predicted) {
    if (!(value > 0 && std::isfinite(value)))
      throw std::invalid_argument("model: a prediction is not positive and finite");
  }
  return predicted;
}

VectorXd logarithms(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()))
      .array()
      .log();
}

VectorXd sigmas_of(const std::vector<Observation>& observations) {
  VectorXd sigma(static_cast<Eigen::Index>(observations.size()));
  for (Eigen::Index i = 0; i < sigma.size(); ++i)
    sigma[i] = observations[static_cast<std::size_t>(i)].relative_sigma;
  return sigma;
}

VectorXd logarithms_of(const std::vector<Observation>& observations) {
  VectorXd values(static_cast<Eigen::Index>(observations.size()));
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values[i] = std::log(observations[static_cast<std::size_t>(i)].value);
  return values;
}

// Residuals in units of standard deviations: data first, then priors.
class Problem {
 public:
  Problem(const std::vector<Parameter>& parameters, const std::vector<Observation>& observations,
          const Model& model)
      : observations_(observations), model_(model) {
    const auto n = static_cast<Eigen::Index>(parameters.size());
    mean_.resize(n);
    sigma_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Parameter& p = parameters[static_cast<std::size_t>(i)];
      mean_[i] = std::log(p.best);
      sigma_[i] = std::log(p.high / p.low) / kSigmasOf90Percent;
    }
  }

  const VectorXd& prior_mean() const { return mean_; }
  const VectorXd& prior_sigma() const { return sigma_; }

  Eigen::Index observations() const { return static_cast<Eigen::Index>(observations_.size()); }
  VectorXd observation_sigma() const { return sigmas_of(observations_); }

  std::vector<double> predict(const VectorXd& x) const {
    return predict_at(model_, x, observations_.size());
  }

  VectorXd residuals(const VectorXd& x) const {
    const Eigen::Index data = observations();
    const std::vector<double> predicted = predict(x);
    VectorXd r(data + x.size());
    for (Eigen::Index i = 0; i < data; ++i) {
      const Observation& o = observations_[static_cast<std::size_t>(i)];
      r[i] = std::log(predicted[static_cast<std::size_t>(i)] / o.value) / o.relative_sigma;
    }
    r.tail(x.size()) = (x - mean_).cwiseQuotient(sigma_);
    return r;
  }

  MatrixXd jacobian(const VectorXd& x) const {
    MatrixXd j(observations() + x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      VectorXd up = x;
      VectorXd down = x;
      up[i] += kStep;
      down[i] -= kStep;
      j.col(i) = (residuals(up) - residuals(down)) / (2 * kStep);
    }
    return j;
  }

 private:
  const std::vector<Observation>& observations_;
  const Model& model_;
  VectorXd mean_;
  VectorXd sigma_;
};

struct Minimum {
  VectorXd x;
  double cost = 0;
  int iterations = 0;
  bool converged = false;
};

Minimum minimise(const Problem& problem, const VectorXd& start) {
  Minimum best{.x = start};
  VectorXd r = problem.residuals(best.x);
  best.cost = r.squaredNorm() / 2;
  double damping = kFirstDamping;
  while (best.iterations < kMaxIterations && !best.converged && damping < kMaxDamping) {
    ++best.iterations;
    const MatrixXd j = problem.jacobian(best.x);
    const VectorXd gradient = j.transpose() * r;
    const MatrixXd normal = j.transpose() * j;
    for (bool accepted = false; !accepted && damping < kMaxDamping;) {
      MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const VectorXd step = damped.ldlt().solve(-gradient);
      const VectorXd trial = problem.residuals(best.x + step);
      best.converged = step.cwiseAbs().maxCoeff() < kConverged;
      accepted = trial.squaredNorm() / 2 <= best.cost;
      if (accepted) {
        best.x += step;
        best.cost = trial.squaredNorm() / 2;
        r = trial;
        damping /= 10;
      } else if (best.converged) {
        break;
      } else {
        damping *= 10;
      }
    }
  }
  return best;
}

// The lowest minimum found from the prior's middle and, for each parameter of which hardly
// anything is known, from its high end. Where one of two cores bounds a rate, the time that the
// other spends has no slope, and from the middle the descent may end with the wrong one.
Minimum minimise(const Problem& problem, const std::vector<Parameter>& parameters) {
  Minimum best = minimise(problem, problem.prior_mean());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].high / parameters[i].low < kHardlyKnown) continue;
    VectorXd start = problem.prior_mean();
    start[static_cast<Eigen::Index>(i)] = std::log(parameters[i].high);
    const Minimum other = minimise(problem, start);
    if (other.converged && other.cost < best.cost - kBetter) best = other;
  }
  return best;
}

// Draws from a posterior by solving the problem again with other data and priors,
// a few steps of Gauss-Newton away from the fit. Instead of a Jacobian a step the
// fit's own is corrected by what the steps find (Broyden 1965).
class Drawing {
 public:
  Drawing(const Fit& fit, const std::vector<Observation>& observations, const Model& model)
      : fit_(fit), model_(model), sigma_(sigmas_of(observations)), start_(logarithms(fit.values)) {
    for (const Observation& o : observations) data_.push_back(o.value);
  }

  VectorXd draw(RandomStream& random) const {
    const VectorXd prior =
        fit_.log_prior_mean + fit_.log_prior_sigma.cwiseProduct(normals(random, start_.size()));
    const VectorXd data = logarithms(data_) + sigma_.cwiseProduct(normals(random, sigma_.size()));
    return maximum(prior, data);
  }

  VectorXd maximum() const { return maximum(fit_.log_prior_mean, logarithms(data_)); }

 private:
  // Of the posterior for this prior mean and these observations.
  VectorXd maximum(const VectorXd& prior, const VectorXd& data) const {
    VectorXd x = start_;
    VectorXd r = (logarithms(fit_.predicted) - data).cwiseQuotient(sigma_);
    MatrixXd j = sigma_.cwiseInverse().asDiagonal() * fit_.log_jacobian;
    for (int i = 0; i < kMaxDrawSteps; ++i) {
      const VectorXd move = step(j, r, x - prior);
      if (move.isZero(0)) break;
      x += move;
      const VectorXd next = (log_prediction(x) - data).cwiseQuotient(sigma_);
      j += (next - r - j * move) * move.transpose() / move.squaredNorm();
      r = next;
      if ((j * move).cwiseAbs().maxCoeff() < kDrawn) break;
    }
    return x;
  }

  static VectorXd normals(RandomStream& random, Eigen::Index count) {
    VectorXd z(count);
    for (double& v : z) v = random.normal();
    return z;
  }
  VectorXd log_prediction(const VectorXd& x) const {
    return logarithms(predict_at(model_, x, data_.size()));
  }
  VectorXd step(const MatrixXd& j, const VectorXd& r, const VectorXd& from_prior) const {
    const VectorXd precision = fit_.log_prior_sigma.cwiseAbs2().cwiseInverse();
    MatrixXd normal = j.transpose() * j;
    normal.diagonal() += precision;
    const VectorXd gradient = j.transpose() * r + precision.cwiseProduct(from_prior);
    const VectorXd move = normal.ldlt().solve(-gradient);
    const double longest = move.cwiseQuotient(fit_.log_prior_sigma).cwiseAbs().maxCoeff();
    return longest > kMaxMove ? VectorXd(move * (kMaxMove / longest)) : move;
  }

  const Fit& fit_;
  const Model& model_;
  std::vector<double> data_;
  VectorXd sigma_;
  VectorXd start_;
};

}  // namespace

double Fit::shrinkage(std::size_t parameter) const {
  const auto i = static_cast<Eigen::Index>(parameter);
  return std::sqrt(log_covariance(i, i)) / log_prior_sigma[i];
}

double Fit::correlation(std::size_t a, std::size_t b) const {
  const auto i = static_cast<Eigen::Index>(a);
  const auto k = static_cast<Eigen::Index>(b);
  return log_covariance(i, k) / std::sqrt(log_covariance(i, i) * log_covariance(k, k));
}

Fit fit_map(const std::vector<Parameter>& parameters, const std::vector<Observation>& observations,
            const Model& model) {
  if (parameters.empty()) throw std::invalid_argument("fit: no parameters");
  for (const Parameter& p : parameters) check(p);
  for (const Observation& o : observations) check(o);
  const Problem problem(parameters, observations, model);
  const Minimum minimum = minimise(problem, parameters);
  Fit fit;
  for (const Parameter& p : parameters) fit.names.push_back(p.name);
  for (const double v : minimum.x) fit.values.push_back(std::exp(v));
  fit.log_prior_mean = problem.prior_mean();
  fit.log_prior_sigma = problem.prior_sigma();
  const MatrixXd j = problem.jacobian(minimum.x);
  fit.log_jacobian = problem.observation_sigma().asDiagonal() * j.topRows(problem.observations());
  // The priors' rows make J'J positive definite.
  const MatrixXd normal = j.transpose() * j;
  fit.log_covariance = normal.ldlt().solve(MatrixXd::Identity(normal.rows(), normal.cols()));
  fit.predicted = problem.predict(minimum.x);
  fit.cost = minimum.cost;
  fit.iterations = minimum.iterations;
  fit.converged = minimum.converged;
  return fit;
}

MatrixXd draw_posterior(const Fit& fit, const std::vector<Observation>& observations,
                        const Model& model, std::size_t count, std::uint64_t seed) {
  const Drawing drawing(fit, observations, model);
  RandomStream random(seed);
  MatrixXd draws(static_cast<Eigen::Index>(count), fit.log_prior_mean.size());
  for (Eigen::Index row = 0; row < draws.rows(); ++row) {
    const VectorXd x = drawing.draw(random);
    for (Eigen::Index i = 0; i < x.size(); ++i)
      draws(row, i) = round_significant(std::exp(x[i]), 6);
  }
  return draws;
}

Fit fit_part(const Fit& fit, const std::vector<std::size_t>& kept,
             const std::vector<Observation>& observations, const Model& model) {
  for (const Observation& o : observations) check(o);
  Fit part = fit;
  part.log_jacobian.resize(static_cast<Eigen::Index>(kept.size()), fit.log_jacobian.cols());
  part.predicted.clear();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    part.log_jacobian.row(static_cast<Eigen::Index>(i)) =
        fit.log_jacobian.row(static_cast<Eigen::Index>(kept[i]));
    part.predicted.push_back(fit.predicted.at(kept[i]));
  }
  const VectorXd sigma = sigmas_of(observations);
  const VectorXd x = Drawing(part, observations, model).maximum();
  const MatrixXd j = sigma.cwiseInverse().asDiagonal() * part.log_jacobian;
  MatrixXd normal = j.transpose() * j;
  normal.diagonal() += fit.log_prior_sigma.cwiseAbs2().cwiseInverse();
  part.log_covariance = normal.ldlt().solve(MatrixXd::Identity(normal.rows(), normal.cols()));
  for (Eigen::Index i = 0; i < x.size(); ++i)
    part.values[static_cast<std::size_t>(i)] = std::exp(x[i]);
  part.predicted = predict_at(model, x, observations.size());
  const VectorXd r =
      (logarithms(part.predicted) - logarithms_of(observations)).cwiseQuotient(sigma);
  const VectorXd from_prior = (x - fit.log_prior_mean).cwiseQuotient(fit.log_prior_sigma);
  part.cost = (r.squaredNorm() + from_prior.squaredNorm()) / 2;
  return part;
}

double round_significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double exponent = std::floor(std::log10(std::abs(value)));
  const double scale = std::pow(10.0, digits - 1 - exponent);
  return std::round(value * scale) / scale;
}

}  // namespace vringlab::sim
