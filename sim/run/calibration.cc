#include "sim/run/calibration.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "sim/cost/presets.h"
#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

constexpr std::string_view kClock = "clock_ghz";

double measured(const CalibrationPoint& point, const RunResult& r) {
  if (point.metric == CalibrationPoint::Metric::kRate) return r.rate_pps;
  return static_cast<double>(r.packets) * 1e12 / static_cast<double>(r.blk.guest_system_ps);
}

RunResult run_with(const CalibrationPoint& point, const std::vector<std::string>& names,
                   const std::vector<double>& values, RunControl* control) {
  RunResult result = run(with_parameters(point.scenario, names, values), control);
  if (control != nullptr) control->runs_done.fetch_add(1, std::memory_order_relaxed);
  return result;
}

std::vector<double> rates(const std::vector<CalibrationPoint>& points,
                          const std::vector<std::string>& names, const std::vector<double>& values,
                          RunControl* control) {
  std::vector<double> result;
  result.reserve(points.size());
  for (const CalibrationPoint& point : points)
    result.push_back(measured(point, run_with(point, names, values, control)));
  return result;
}

// Where the host stands in "row@host" or "row*host"; npos in "row".
std::size_t host_at(std::string_view name) { return name.find_first_of("@*"); }

bool concerns(std::string_view name, std::string_view host) {
  const std::size_t at = host_at(name);
  return at == std::string_view::npos || name.substr(at + 1) == host;
}

// When a run was over and how busy each core was: what a cost that the run uses changes, be it on
// a core that does not bound the rate.
std::vector<std::uint64_t> times_of(const RunResult& r) {
  std::vector<std::uint64_t> times = {r.elapsed_ps, r.blk.guest_system_ps};
  for (const CoreResult& core : r.cores) times.push_back(core.busy_ps);
  return times;
}

// Rates of points, each simulated once for each set of those values that it uses: of many
// parameters most concern few points.
class Rates {
 public:
  Rates(const std::vector<CalibrationPoint>& points, const std::vector<Parameter>& parameters,
        RunControl* control)
      : points_(points), control_(control), known_(points.size()) {
    for (const Parameter& p : parameters) names_.push_back(p.name);
    for (std::size_t i = 0; i < points.size(); ++i) known_[i].uses = used_by(points[i], parameters);
  }

  const std::vector<std::string>& names() const { return names_; }

  std::vector<double> operator()(const std::vector<double>& values) {
    std::vector<double> result;
    for (std::size_t i = 0; i < points_.size(); ++i) result.push_back(rate(i, values));
    return result;
  }

 private:
  struct Known {
    std::vector<std::size_t> uses;  // indices of parameters
    std::map<std::vector<double>, double> rates;
  };

  std::vector<std::size_t> used_by(const CalibrationPoint& point,
                                   const std::vector<Parameter>& parameters) {
    const std::vector<std::uint64_t> middle = times_of(run_with(point, {}, {}, control_));
    std::vector<std::size_t> uses;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const Parameter& p = parameters[k];
      if (!concerns(p.name, point.scenario.host)) continue;
      if (times_of(run_with(point, {p.name}, {p.low}, control_)) != middle ||
          times_of(run_with(point, {p.name}, {p.high}, control_)) != middle)
        uses.push_back(k);
    }
    return uses;
  }

  double rate(std::size_t point, const std::vector<double>& values) {
    Known& known = known_[point];
    std::vector<double> used;
    used.reserve(known.uses.size());
    for (const std::size_t k : known.uses) used.push_back(values[k]);
    const auto found = known.rates.find(used);
    if (found != known.rates.end()) return found->second;
    const double rate =
        measured(points_[point], run_with(points_[point], names_, values, control_));
    return known.rates[used] = rate;
  }

  const std::vector<CalibrationPoint>& points_;
  RunControl* control_;
  std::vector<std::string> names_;
  std::vector<Known> known_;
};

std::set<std::string> hosts_of(const std::vector<CalibrationPoint>& points) {
  std::set<std::string> hosts;
  for (const CalibrationPoint& point : points) hosts.insert(point.scenario.host);
  return hosts;
}

bool is_unmodelled(std::string_view row) { return row.starts_with("unmodelled."); }

// The value of a row among these, the last of them; else its best.
double value_of(const std::string& row, const std::vector<CostOverride>& costs) {
  for (auto cost = costs.rbegin(); cost != costs.rend(); ++cost)
    if (cost->name == row) return cost->value;
  const CostRow* known = find_cost_row(row);
  return known != nullptr ? known->best : 1;
}

// A row's value that hosts share: its prior less what differs between them, so that the prior on
// each host is the row's own.
Parameter shared(const Parameter& row, double between_hosts) {
  const double all = std::log(row.high / row.low) / 2;
  const double between = std::log(between_hosts);
  if (between >= all)
    throw std::invalid_argument("between_hosts: exceeds the range of " + row.name);
  const double width = std::exp(std::sqrt(all * all - between * between));
  return {row.name, row.best / width, row.best, row.best * width};
}

// What a row is on one host: by itself, or a factor of what hosts share.
Parameter on_host(const Parameter& row, const std::string& host, double between_hosts) {
  if (between_hosts <= 1) return {row.name + "@" + host, row.low, row.best, row.high};
  return {row.name + "*" + host, 1 / between_hosts, 1, between_hosts};
}

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
    if (!concerns(names[i], scenario.host)) continue;
    const std::size_t at = host_at(names[i]);
    const bool factor = at != std::string::npos && names[i][at] == '*';
    const std::string row = names[i].substr(0, at);
    const double value = factor ? values[i] * value_of(row, costs) : values[i];
    const CostRow* known = find_cost_row(row);
    const bool fraction = known != nullptr && known->unit == Unit::kFraction;
    costs.push_back({row, fraction ? std::min(value, 1.0) : value});
  }
  // Of two values for a row the later one counts.
  costs.insert(costs.end(), scenario.costs.begin(), scenario.costs.end());
  scenario.costs = std::move(costs);
  return scenario;
}

std::vector<Parameter> free_parameters(const std::vector<CalibrationPoint>& points,
                                       double between_hosts, RunControl* control) {
  std::vector<Parameter> candidates;
  for (const CostRow& row : cost_rows()) {
    if (row.low <= 0 || row.low >= row.high) continue;
    const Parameter p{std::string(row.name), row.low, row.best, row.high};
    const bool per_host = is_unmodelled(row.name);
    if (per_host && between_hosts > 1) candidates.push_back(shared(p, between_hosts));
    if (!per_host) candidates.push_back(p);
    for (const std::string& host : per_host ? hosts_of(points) : std::set<std::string>())
      candidates.push_back(on_host(p, host, between_hosts));
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
  Rates known(points, parameters, control);
  Fit fit = fit_map(parameters, observations_of(points), std::ref(known));
  // What a run uses was looked for at the middle of the priors; it may be more at the fit.
  if (rates(points, known.names(), fit.values, control) == fit.predicted) return fit;
  return fit_map(parameters, observations_of(points), model_of(points, known.names(), control));
}

Fit leave_out(const Fit& fit, const std::vector<CalibrationPoint>& points,
              const std::vector<std::size_t>& kept, RunControl* control) {
  std::vector<CalibrationPoint> others;
  others.reserve(kept.size());
  for (const std::size_t i : kept) others.push_back(points.at(i));
  return fit_part(fit, kept, observations_of(others), model_of(others, fit.names, control));
}

Eigen::MatrixXd draw_posterior(const Fit& fit, const std::vector<CalibrationPoint>& points,
                               std::size_t count, std::uint64_t seed, RunControl* control) {
  return draw_posterior(fit, observations_of(points), model_of(points, fit.names, control), count,
                        seed);
}

}  // namespace vringlab::sim
