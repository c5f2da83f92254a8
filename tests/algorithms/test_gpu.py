"""Algorithms on a GPU: every promise of the suite, the same lists twice, and those of the processor.

`python3 dev.py test -m gpu` runs these tests, and only these, on a machine with an NVIDIA GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recassay.algorithms import als, graph_filters, linear, neighbours
from recassay.core.seeds import derived_rng
from recassay.testing import ALGORITHM_CHECKS, checks
from recassay.testing.answers import alike, answer
from recassay.testing.examples import learnable_tastes
from support.neural import TINY, tiny

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

from recassay.algorithms.kernels.device_code import runs_triton  # noqa: E402
from recassay.algorithms.kernels.ordered_sums import OrderedSums  # noqa: E402
from recassay.algorithms.neural.chance import Chance  # noqa: E402
from recassay.algorithms.neural.network import summed_rows  # noqa: E402
from recassay.algorithms.neural.training import Steps  # noqa: E402

CLOSED: dict[str, Any] = {
    "ALS": als.ALS,
    "EASE": linear.EASE,
    "ItemKNN": neighbours.ItemKNN,
    "UserKNN": neighbours.UserKNN,
    "GF-CF": graph_filters.GFCF,
    "Turbo-CF": graph_filters.TurboCF,
}
MADE = {name: lambda device, kind=kind: kind(device=device) for name, kind in CLOSED.items()} | {
    name: lambda device, name=name: tiny(name, device=device)() for name in TINY
}
RECORDED = ["LightGCN", "SGL", "LightGCL", "DMF", "LINE", "SimpleX", "UltraGCN", "XSimGCL", "NNCF"]
RECORDED += ["SASRec", "eSASRec", "BERT4Rec"]


@pytest.fixture(autouse=True, scope="module")
def gpu() -> None:
    if not torch.cuda.is_available():
        pytest.fail("tests marked gpu were asked for, and torch finds no GPU")


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MADE)
def test_promises(name: str, check: checks.Check) -> None:
    if check is checks.check_learns and name in TINY:
        pytest.skip("two epochs learn little")
    check(lambda: MADE[name]("cuda"))


@pytest.mark.parametrize("name", MADE)
def test_the_same_lists_twice(name: str) -> None:
    train, _ = learnable_tastes(users_per_group=200, items_per_group=150)
    first, second = (answer(MADE[name]("cuda"), train) for _ in range(2))
    assert np.array_equal(first.items, second.items)
    assert np.array_equal(first.scores, second.scores)


@pytest.mark.parametrize("name", CLOSED)
def test_the_lists_of_the_processor(name: str) -> None:
    train, _ = learnable_tastes(users_per_group=200, items_per_group=150)
    here, there = (answer(MADE[name](device), train) for device in ("cpu", "cuda"))
    assert alike(here, there)
    # Sums in another order part scores that are equal: where lists differ, they differ among those.
    apart = np.abs(np.diff(here.scores, axis=1)) > 1e-5 * np.abs(here.scores[:, 1:])
    clear = np.pad(apart, ((0, 0), (1, 0)), constant_values=True) & np.pad(apart, ((0, 0), (0, 1)))
    assert clear.mean() > 0.3
    assert np.array_equal(here.items[clear], there.items[clear])


@pytest.mark.parametrize("name", TINY)
def test_a_network_learns_the_weights_of_the_processor(name: str) -> None:
    """Up to the digits of the products: those of a GPU have 10 bits, those of a profile network 7."""
    train, _ = learnable_tastes()
    here, there = (answer(MADE[name](device), train) for device in ("cpu", "cuda"))
    assert np.abs(here.scores - there.scores).max() < 0.1 * np.abs(here.scores).max()


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_step_computes_what_the_single_operations_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    train, _ = learnable_tastes()
    make = tiny(name, epochs=6, device="cuda")
    recorded = [answer(make(), train) for _ in range(2)]
    monkeypatch.setattr(Steps, "take", Steps._step)
    for other in (recorded[1], answer(make(), train)):
        assert np.array_equal(recorded[0].items, other.items)
        assert np.array_equal(recorded[0].scores, other.scores)


def test_kernels_in_triton_run_where_it_is_installed() -> None:
    pytest.importorskip("triton")
    assert runs_triton("cuda")


def test_chance_is_the_same_on_both_devices() -> None:
    here, there = (Chance(derived_rng(3), device) for device in ("cpu", "cuda"))
    bounds = torch.tensor([3, 10**9, 1, 7])
    for _ in range(2):
        assert torch.equal(here.uniform(3, 1001), there.uniform(3, 1001).cpu())
        assert torch.equal(here.below(bounds), there.below(bounds.cuda()).cpu())
        assert torch.equal(here.permutation(100_003), there.permutation(100_003).cpu())
        assert torch.allclose(here.normal(999), there.normal(999).cpu(), atol=1e-5)
        vectors = here.normal(201, 37)
        there.normal(201, 37)
        assert torch.allclose(here.blurred(vectors, 0.3), there.blurred(vectors.cuda(), 0.3).cpu(), atol=1e-5)


@pytest.mark.parametrize("width", [3, 256, 700])
def test_sums_of_rows(width: int) -> None:
    rng = np.random.default_rng(1)
    dense = (rng.random((300, 2000)) < rng.random((300, 1))) * rng.random((300, 2000))
    row, column = np.nonzero(dense)
    first = torch.from_numpy(np.searchsorted(row, np.arange(301))).cuda()
    values = torch.from_numpy(dense[row, column].astype(np.float32)).cuda()
    sums = OrderedSums(first, torch.from_numpy(column).cuda(), values)
    factor = torch.from_numpy(rng.random((2000, width)).astype(np.float32)).cuda()
    once, again = sums @ factor, sums @ factor
    assert torch.equal(once, again)
    assert np.allclose(once.cpu().numpy(), dense @ factor.cpu().numpy(), rtol=1e-4)
    start = torch.from_numpy(rng.random((300, width)).astype(np.float32)).cuda()
    assert torch.allclose(sums.plus(start, factor), start + once, rtol=1e-4)
    chosen = torch.tensor([299, 0, 17, 299]).cuda()
    assert torch.allclose(sums.at(chosen, factor), once[chosen], rtol=1e-4)


@pytest.mark.parametrize("width", [1, 64, 200])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_slopes_of_rows_are_summed_in_any_order(width: int, size: float) -> None:
    rng = np.random.default_rng(2)
    place = torch.from_numpy((rng.random(20_000) ** 4 * 500).astype(np.int64))
    values = torch.from_numpy((size * rng.normal(size=(20_000, width))).astype(np.float32))
    expected = torch.zeros(501, width, dtype=torch.float64).index_add_(0, place, values.double())
    order = torch.from_numpy(rng.permutation(20_000))
    once = summed_rows(place.cuda(), values.cuda(), 501)
    assert torch.equal(once, summed_rows(place[order].cuda(), values[order].cuda(), 501))
    assert float((once.cpu().double() - expected).abs().max()) < 1e-6 * float(expected.abs().max())
    values[7, 0] = torch.inf
    assert bool(torch.isnan(summed_rows(place.cuda(), values.cuda(), 501)).any())
