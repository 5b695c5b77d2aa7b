#include "sim/run/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/cost/presets.h"
#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

constexpr std::string_view kClock = "clock_ghz";

double measured(const CalibrationPoint& point, const RunResult& r) {
  if (point.metric == CalibrationPoint::Metric::kRate) return r.rate_pps;
  return static_cast<double>(r.packets) * 1e12 / static_cast<double>(r.blk.guest_system_ps);
}

std::vector<double> rates(const std::vector<CalibrationPoint>& points,
                          const std::vector<std::string>& names, const std::vector<double>& values,
                          RunControl* control) {
  std::vector<double> result;
  for (const CalibrationPoint& point : points) {
    result.push_back(measured(point, run(with_parameters(point.scenario, names, values), control)));
    if (control != nullptr) control->runs_done.fetch_add(1, std::memory_order_relaxed);
  }
  return result;
}

std::set<std::string> hosts_of(const std::vector<CalibrationPoint>& points) {
  std::set<std::string> hosts;
  for (const CalibrationPoint& point : points) hosts.insert(point.scenario.host);
  return hosts;
}

bool is_unmodelled(std::string_view row) { return row.starts_with("unmodelled."); }

// Does any rate say something about the row?
bool matters(const std::vector<CalibrationPoint>& points, const Parameter& p, RunControl* control) {
  const std::vector<double> low = rates(points, {p.name}, {p.low}, control);
  const std::vector<double> high = rates(points, {p.name}, {p.high}, control);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::abs(std::log(high[i] / low[i])) > points[i].relative_sigma / 100) return true;
  }
  return false;
}

std::vector<Observation> observations_of(const std::vector<CalibrationPoint>& points) {
  std::vector<Observation> observations;
  observations.reserve(points.size());
  for (const CalibrationPoint& point : points)
    observations.push_back({point.id, point.rate_pps, point.relative_sigma});
  return observations;
}

Model model_of(const std::vector<CalibrationPoint>& points, const std::vector<std::string>& names,
               RunControl* control) {
  return [&points, names, control](const std::vector<double>& values) {
    return rates(points, names, values, control);
  };
}

}  // namespace

Scenario with_parameters(Scenario scenario, const std::vector<std::string>& names,
                         const std::vector<double>& values) {
  std::vector<CostOverride> costs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t at = names[i].find('@');
    if (at != std::string::npos && names[i].substr(at + 1) != scenario.host) continue;
    const std::string row = names[i].substr(0, at);
    const CostRow* known = find_cost_row(row);
    const bool fraction = known != nullptr && known->unit == Unit::kFraction;
    costs.push_back({row, fraction ? std::min(values[i], 1.0) : values[i]});
  }
  // Of two values for a row the later one counts.
  costs.insert(costs.end(), scenario.costs.begin(), scenario.costs.end());
  scenario.costs = std::move(costs);
  return scenario;
}

std::vector<Parameter> free_parameters(const std::vector<CalibrationPoint>& points,
                                       RunControl* control) {
  std::vector<Parameter> candidates;
  for (const CostRow& row : cost_rows()) {
    if (row.low <= 0 || row.low >= row.high) continue;
    const Parameter p{std::string(row.name), row.low, row.best, row.high};
    if (!is_unmodelled(row.name)) {
      candidates.push_back(p);
      continue;
    }
    for (const std::string& host : hosts_of(points))
      candidates.push_back({p.name + "@" + host, p.low, p.best, p.high});
  }
  for (const std::string& host : hosts_of(points)) {
    const Range clock = find_host(host).clock_ghz;
    if (clock.low < clock.high)
      candidates.push_back({std::string(kClock) + "@" + host, clock.low, clock.best, clock.high});
  }
  std::erase_if(candidates, [&](const Parameter& p) { return !matters(points, p, control); });
  return candidates;
}

Fit calibrate(const std::vector<CalibrationPoint>& points, const std::vector<Parameter>& parameters,
              RunControl* control) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Parameter& p : parameters) names.push_back(p.name);
  return fit_map(parameters, observations_of(points), model_of(points, names, control));
}

Eigen::MatrixXd draw_posterior(const Fit& fit, const std::vector<CalibrationPoint>& points,
                               std::size_t count, std::uint64_t seed, RunControl* control) {
  return draw_posterior(fit, observations_of(points), model_of(points, fit.names, control), count,
                        seed);
}

}  // namespace vringlab::sim
