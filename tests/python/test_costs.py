"""Cost rows, hosts, kernels and priors."""

import math
import pickle
from typing import Any

import pytest
import vringlab as vl


def test_rows_are_named_once_and_ordered() -> None:
    rows = vl.cost_rows()
    assert len({row.name for row in rows}) == len(rows) > 100
    for row in rows:
        assert 0 <= row.low <= row.best <= row.high < math.inf
        assert row.unit in {"cycles", "ns", "us", "cycles/B", "fraction", "GB/s", "MB/s", "count"}
        assert row.evidence


def test_hosts_pay_rows_that_exist() -> None:
    names = {row.name for row in vl.cost_rows()}
    for host in vl.hosts():
        low, best, high = host.clock_ghz
        assert 0 < low <= best <= high
        assert {host.stac_clac, host.lfence, host.copy_startup, host.transfer_socket} <= names
        assert vl.Scenario(host=host.name).host == host.name


def test_kernels_can_be_chosen() -> None:
    assert {kernel.smap for kernel in vl.kernels()} == {True, False}
    for kernel in vl.kernels():
        assert vl.Scenario(kernel=kernel.name).kernel == kernel.name


def test_values() -> None:
    for value in (*vl.cost_rows(), *vl.hosts(), *vl.kernels()):
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(value) is not None


def test_a_cost_set_to_its_best_value_changes_nothing() -> None:
    host = next(host for host in vl.hosts() if host.name == vl.Scenario().host)
    best = {row.name: row.best for row in vl.cost_rows()} | {"clock_ghz": host.clock_ghz[1]}
    plain, same = vl.run(vl.Scenario(packets=500)), vl.run(vl.Scenario(packets=500, costs=best))
    assert plain.cores == same.cores


def test_a_cost_set_to_another_value_is_charged() -> None:
    dear = vl.run(vl.Scenario(packets=500, costs={"unmodelled.vhost_net_tx": 1000}))
    assert dear.by("cost")["unmodelled"] == 1000


# --- priors ---------------------------------------------------------------------------------------


def test_prior_of_every_row() -> None:
    for row in vl.cost_rows():
        prior = vl.CostPrior(row.name, row.low, row.best, row.high)
        assert (prior.low, prior.best, prior.high) == (row.low, row.best, row.high)
        assert pickle.loads(pickle.dumps(prior)) == prior
    assert vl.CostPrior("clock_ghz", 2, 2, 2).best == 2.0
    assert vl.CostPrior("smp_mb@zen2-3.3", 2, 3, 4).high == 4.0


@pytest.mark.parametrize(
    ("bounds", "field"),
    [((3, 2, 5), "low"), ((1, 6, 5), "best"), ((5, 5, 4), "best"), ((3, 2, 1), "low")],
)
def test_prior_out_of_order(bounds: tuple[float, float, float], field: str) -> None:
    with pytest.raises(ValueError, match=f"^smp_mb: {field} = [0-9.]+: must be at most "):
        vl.CostPrior("smp_mb", *bounds)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1, -1e-9, 10**400])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_prior_of_bad_values(value: float, position: int) -> None:
    bounds = [1.0, 1.0, 1.0]
    bounds[position] = value
    with pytest.raises(ValueError, match=r"^smp_mb: (low|best|high) = .*: must be finite and not"):
        vl.CostPrior("smp_mb", *bounds)


def test_prior_of_a_fraction_is_at_most_one() -> None:
    assert vl.CostPrior("ooo_overlap", 0, 0.5, 1).high == 1
    with pytest.raises(ValueError, match=r"^ooo_overlap: high = 1.01: must be between 0 and 1"):
        vl.CostPrior("ooo_overlap", 0, 0.5, 1.01)


@pytest.mark.parametrize("name", ["", "nonsense", "SMP_MB", "smp_mb ", "@zen2-3.3"])
def test_prior_of_an_unknown_row(name: str) -> None:
    with pytest.raises(ValueError, match=f'^name = "{name}": there is no such cost row'):
        vl.CostPrior(name, 1, 2, 3)


def test_prior_of_an_unknown_host() -> None:
    with pytest.raises(ValueError, match=r'^name = "smp_mb@moon": there is no such host'):
        vl.CostPrior("smp_mb@moon", 1, 2, 3)


@pytest.mark.parametrize("value", [None, "1", True, [1]])
def test_prior_of_wrong_types(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^smp_mb: low must be a number"):
        vl.CostPrior("smp_mb", value, 2, 3)
    with pytest.raises(TypeError, match=r"^name must be a str"):
        vl.CostPrior(None if value == "1" else value, 1, 2, 3)
