"""What the fit says about each published row of batching."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vringlab import Calibration, Prediction, Scenario, predict
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA
from vringlab.experiments.xdp_batch import netperf
from vringlab.experiments.xdp_batch.base import GAINS, SEED, SWEEP_RATES, SWEEP_SIGMA
from vringlab.experiments.xdp_batch.fit import calibration_points, committed_fit
from vringlab.published import Published
from vringlab.validation import Row, gain_row, rate_row

SOURCES = ("xdp-batch-2018", "vhost-batch-sweep-2020")


@dataclass(frozen=True, slots=True)
class Found:
    """The answers, and what they come from."""

    fit: Calibration
    rows: list[Row]
    """In the order of the published ones."""
    pairs: Mapping[Scenario, Prediction]
    """Of the scenarios in GAINS."""
    streams: Mapping[netperf.Key, netperf.Cell]


def answers(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> list[Row]:
    """The rows of SOURCES among these, by default at the committed fit and all its draws."""
    return find(published, fit, draws).rows


def find(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> Found:
    """The answers with all that was run for them. The fit has seen rows of other sources too."""
    everything = list(published)
    asked = {row.id: row for row in everything if row.source in SOURCES}
    fit = fit or committed_fit(calibration_points(everything))
    rates = _predicted(SWEEP_RATES.values(), fit, SWEEP_SIGMA, draws)
    pairs = _predicted((s for pair in GAINS.values() for s in pair), fit, MEASUREMENT_SIGMA, draws)
    streams = netperf.cells(fit, draws=min(netperf.DRAWS, draws or netperf.DRAWS))
    answered: dict[str, Row] = {
        **{name: rate_row(asked[name], rates[s]) for name, s in SWEEP_RATES.items()},
        **{n: gain_row(asked[n], pairs[b].gain_over(pairs[a])) for n, (a, b) in GAINS.items()},
        **{
            name: gain_row(row, netperf.gain_of(row, streams))
            for name, row in asked.items()
            if name.startswith(netperf.ROWS)
        },
    }
    assert set(asked) == set(answered), "each published row has a scenario"
    return Found(fit, [answered[name] for name in asked], pairs, streams)


def _predicted(
    scenarios: Iterable[Scenario], fit: Calibration, sigma: float, draws: int | None
) -> Mapping[Scenario, Prediction]:
    asked = list(scenarios)
    found = predict(asked, fit, draws=draws, seed=SEED, measurement_sigma=sigma)
    return dict(zip(asked, found, strict=True))
