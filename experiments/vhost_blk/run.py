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

from vringlab import Result, Scenario, run_many, sample
from vringlab.experiments.vhost_blk import explore, figures, switches, system_time
from vringlab.experiments.vhost_blk.answers import find
from vringlab.experiments.vhost_blk.base import RATES, SEED, SYSTEM
from vringlab.experiments.vhost_blk.report import report
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.experiments.vmap.tables import write_posterior
from vringlab.published import load_published
from vringlab.validation import write_rows


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/vhost_blk."""
    found = find(load_published())
    fit, rows = found.fit, found.rows
    times = published_system_times()
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
