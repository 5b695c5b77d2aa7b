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
// host only, and "row*host" multiplies what "row" is on one host. Returns the scenario with the
// parameters that concern it; a row that the scenario itself sets keeps its value.
Scenario with_parameters(Scenario scenario, const std::vector<std::string>& names,
                         const std::vector<double>& values);

// All rows that these rates say something about, with their priors: rows that from
// low to high move a rate by a hundredth of its standard deviation; "unmodelled"
// rows and unknown clocks a host each. In the order of the cost table. With between_hosts > 1 the
// "unmodelled" rows of hosts are drawn around one that they share: "row", whose prior is narrower
// by what "row*host" adds, a factor of 1 with the 5-95 % range 1/between_hosts..between_hosts.
std::vector<Parameter> free_parameters(const std::vector<CalibrationPoint>& points,
                                       double between_hosts = 1, RunControl* control = nullptr);

Fit calibrate(const std::vector<CalibrationPoint>& points, const std::vector<Parameter>& parameters,
              RunControl* control = nullptr);

// The fit to the points `kept`, by index, which descends from the fit to all of them by the same
// Jacobian.
Fit leave_out(const Fit& fit, const std::vector<CalibrationPoint>& points,
              const std::vector<std::size_t>& kept, RunControl* control = nullptr);

Eigen::MatrixXd draw_posterior(const Fit& fit, const std::vector<CalibrationPoint>& points,
                               std::size_t count, std::uint64_t seed,
                               RunControl* control = nullptr);

}  // namespace vringlab::sim
