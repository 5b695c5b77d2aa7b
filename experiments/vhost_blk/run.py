"""Why did a disk served inside the host's kernel read twice as fast, and write half as fast?

In 2010 a prototype read 665 MB/s where a VMM in user space read 305, and wrote 60 where that wrote
110; its author asked why. It serves one request at a time, through the page cache, and its bytes
begin at sector << 8 where the format says << 9. So a sequential reader should meet every page
twice, the second time in memory, which alone is worth a factor of two; a writer should lose because
each request waits for the platters alone, whatever the shift. Without the fault the two systems
should read alike. In 2022 a prototype that goes past the page cache should reach the bare disk.
"""

from collections.abc import Iterable
from pathlib import Path

from vringlab import Calibration, Prediction, Result, Scenario, predict, run_many, sample
from vringlab.experiments.vhost_blk import explore, figures, switches, system_time
from vringlab.experiments.vhost_blk.base import (
    RATES,
    SEED,
    SIGMA_2010,
    SIGMA_2022,
    SYSTEM,
    bound_by,
    sigma_of,
)
from vringlab.experiments.vhost_blk.fit import calibration_points, committed_fit
from vringlab.experiments.vhost_blk.report import report
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.experiments.vmap.tables import write_posterior
from vringlab.published import load_published
from vringlab.validation import rate_row, write_rows

SOURCES = ("vhost-blk-2010", "vhost-blk-2022")
SIGMAS = (SIGMA_2010, SIGMA_2022)


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/vhost_blk."""
    published = {row.id: row for row in load_published() if row.source in SOURCES}
    times = published_system_times()
    fit = committed_fit(calibration_points([*published.values(), *times]))
    assert set(published) == set(RATES), "each published row has a scenario"
    predicted = {n: p for sigma in SIGMAS for n, p in _predicted(fit, sigma).items()}
    rows = [rate_row(published[n], predicted[n], bound_by(n)) for n in RATES]
    sampled = sample([RATES[SYSTEM[row.id]] for row in times], fit, seed=SEED)
    system = [system_time.answer(row, s) for row, s in zip(times, sampled, strict=True)]

    def run(scenarios: Iterable[Scenario]) -> list[Result]:
        return run_many(fit.apply(scenario) for scenario in scenarios)

    ladders = switches.ladders(run)
    tried = switches.sets_tried(run)
    caches = switches.caches(run)
    points = explore.explored(run)
    corrupt = system_time.overwritten(run)

    write_rows(folder / "table.csv", rows)
    write_posterior(folder / "posterior.csv", fit)
    system_time.write_answers(folder / "system_time.csv", system)
    switches.write_ladders(folder / "ladder.csv", ladders)
    switches.write_sets(folder / "sets.csv", tried)
    switches.write_caches(folder / "caches.csv", caches)
    explore.write_points(folder / "exploration.csv", points)
    figures.draw_ladders(folder / "ladder", ladders)
    figures.draw_rates(folder / "exploration", points)
    figures.draw_latencies(folder / "latency", points)
    text = report(rows, system, ladders, tried, caches, points, corrupt)
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    assert switches.smallest(tried), "some set of mechanisms makes writes slower"


def _predicted(fit: Calibration, sigma: float) -> dict[str, Prediction]:
    """The rows whose measurement has this noise."""
    names = [name for name in RATES if sigma_of(name) == sigma]
    asked = [RATES[name] for name in names]
    found = predict(asked, fit, seed=SEED, measurement_sigma=sigma)
    return dict(zip(names, found, strict=True))
