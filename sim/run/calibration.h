// Calibration of cost rows on published rates, and the parameters that a
// prediction then uses.
#pragma once

#include <string>
#include <vector>

#include "sim/cost/fit.h"
#include "sim/run/run.h"

namespace vringlab::sim {

// A published rate and the scenario that should give it.
struct CalibrationPoint {
  // What the rate is of: packets a second, or, of the workload "blk", I/Os that the guest
  // makes in a second of its system time.
  enum class Metric : std::uint8_t { kRate, kGuestSystem };
  std::string id;
  Scenario scenario;
  double rate_pps = 0;
  double relative_sigma = 0;  // standard deviation of ln(rate) between runs and in rounding
  Metric metric = Metric::kRate;
};

// A parameter "row" stands for that cost row on every host, "row@host" on one
// host only. Returns the scenario with the parameters that concern it; a row that
// the scenario itself sets keeps its value.
Scenario with_parameters(Scenario scenario, const std::vector<std::string>& names,
                         const std::vector<double>& values);

// All rows that these rates say something about, with their priors: rows that from
// low to high move a rate by a hundredth of its standard deviation; "unmodelled"
// rows and unknown clocks a host each. In the order of the cost table.
std::vector<Parameter> free_parameters(const std::vector<CalibrationPoint>& points,
                                       RunControl* control = nullptr);

Fit calibrate(const std::vector<CalibrationPoint>& points, const std::vector<Parameter>& parameters,
              RunControl* control = nullptr);

Eigen::MatrixXd draw_posterior(const Fit& fit, const std::vector<CalibrationPoint>& points,
                               std::size_t count, std::uint64_t seed,
                               RunControl* control = nullptr);

}  // namespace vringlab::sim
