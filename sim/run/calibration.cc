#include "sim/run/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/cost/presets.h"
#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

constexpr std::string_view kClock = "clock_ghz";

std::vector<double> rates(const std::vector<CalibrationPoint>& points,
                          const std::vector<std::string>& names, const std::vector<double>& values,
                          RunControl* control) {
  std::vector<double> result;
  for (const CalibrationPoint& point : points) {
    result.push_back(run(with_parameters(point.scenario, names, values), control).rate_pps);
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

// Does any rate depend on the row? Asked with a change that no rounding hides.
bool matters(const std::vector<CalibrationPoint>& points, const Parameter& p,
             const std::vector<double>& base, RunControl* control) {
  return rates(points, {p.name}, {p.best * 1.1}, control) != base;
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
  const std::vector<double> base = rates(points, {}, {}, control);
  std::vector<Parameter> candidates;
  for (const CostRow& row : cost_rows()) {
    if (row.low >= row.high) continue;
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
  std::erase_if(candidates, [&](const Parameter& p) { return !matters(points, p, base, control); });
  return candidates;
}

Fit calibrate(const std::vector<CalibrationPoint>& points, const std::vector<Parameter>& parameters,
              RunControl* control) {
  std::vector<Observation> observations;
  for (const CalibrationPoint& point : points)
    observations.push_back({point.id, point.rate_pps, point.relative_sigma});
  std::vector<std::string> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  return fit_map(parameters, observations, [&](const std::vector<double>& values) {
    return rates(points, names, values, control);
  });
}

}  // namespace vringlab::sim
