"""Linear and neighbour algorithms by torch: the same recommendations as without it.

`cpu:0` is the processor for torch, and not `cpu` for the algorithms: they then take the way that they take on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.algorithms import als, graph_filters, linear, neighbours
from recassay.algorithms.kernels import device, device_least_squares
from recassay.algorithms.kernels.device_products import dense_weights_bytes
from recassay.algorithms.kernels.positives import Positives
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.types import TopK
from recassay.testing import checks
from recassay.testing.answers import alike, everyone
from recassay.testing.examples import learnable_tastes

torch = pytest.importorskip("torch")

MADE = {
    "ALS": lambda: als.ALS(factors=32),
    "EASE": lambda: linear.EASE(reg=20.0),
    "ItemKNN": lambda: neighbours.ItemKNN(k=7),
    "ItemKNN history": lambda: neighbours.ItemKNN(
        k=7, keep="history", similarity="jaccard", weighting="none", shrink=2.0
    ),
    "UserKNN": lambda: neighbours.UserKNN(k=9, weighting="bm25"),
    "UserKNN dot": lambda: neighbours.UserKNN(k=500, similarity="dot"),
    "GF-CF": lambda: graph_filters.GFCF(factors=6),
    "Turbo-CF": lambda: graph_filters.TurboCF(order=3, power=0.8),
}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (als, linear, neighbours):
        monkeypatch.setattr(module, "settled_device", lambda *_: "cpu:0")


def answer(algorithm: Any, *, helped: bool, exclude: bool) -> TopK:
    train, _ = learnable_tastes()
    shared = {"shared": algorithm.shared(train)} if helped and hasattr(algorithm, "shared") else {}
    model = algorithm.fit(train, rng=derived_rng(1), **shared)
    return model.recommend(everyone(train), 10, exclude=train.csr() if exclude else None)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MADE))
@pytest.mark.parametrize("exclude", [True, False])
def test_the_same_lists_elsewhere(name: str, exclude: bool, request: pytest.FixtureRequest) -> None:
    here = answer(MADE[name](), helped=False, exclude=exclude)
    request.getfixturevalue("elsewhere")
    for helped in (False, True):
        there = answer(MADE[name](), helped=helped, exclude=exclude)
        assert alike(here, there)
        assert (here.items == there.items).mean() > 0.98


@pytest.mark.slow
def test_a_matrix_that_cannot_be_inverted_in_single_precision(elsewhere: None) -> None:
    train, _ = learnable_tastes(n_groups=1, users_per_group=30, items_per_group=40)
    model = linear.EASE(reg=1e-7).fit(train, rng=derived_rng(1))
    scores = model.recommend(everyone(train), 5, exclude=train.csr()).scores
    assert np.isfinite(scores).all()


def test_devices() -> None:
    with pytest.raises(UsageError, match="EASE has no device 'cdua'; did you mean 'cuda'"):
        linear.EASE(device="cdua")
    assert device.settled_device("cpu", "EASE") == "cpu"


def test_a_gpu_is_looked_for_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not device.has_gpu()
    assert device.settled_device("auto", "EASE") == "cpu"
    assert (device.gpu_count(), device.gpu_name()) == (0, None)


def test_matrices_between_items_take_four_bytes_per_cell_on_the_gpu():
    one, three = (dense_weights_bytes(matrices, 100, 2_000, 5_000) for matrices in (1, 3))
    assert three - one == 2 * 4 * 2_000**2
    assert dense_weights_bytes(1, 100, 2_000, 6_000) - one == 24 * 1_000


@pytest.mark.parametrize(("most_bytes", "most_rows"), [(1 << 30, 1 << 14), (1 << 12, 1 << 14), (1 << 30, 3), (1, 1)])
def test_least_squares_elsewhere(most_bytes: int, most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows without events, with one and with all items; however they are cut into blocks."""
    monkeypatch.setattr(device_least_squares, "BLOCK_BYTES", most_bytes)
    monkeypatch.setattr(device_least_squares, "MOST_ROWS", most_rows)
    rng, n_items, factors = derived_rng(1, "als"), 60, 8
    share = np.repeat([0.0, 0.02, 0.1, 0.5, 1.0], 20)
    rows = Positives.of_matrix(csr_array(rng.random((100, n_items)) < share[rng.permutation(100), None]))
    reg = rng.uniform(1.0, 5.0, 100).astype(np.float32)
    fixed, start = (rng.standard_normal((size, factors)).astype(np.float32) for size in (n_items, 100))
    ordered = device_least_squares.DeviceRows(rows, reg, "cpu")
    cut = list(ordered.blocks(factors))
    empty = (ordered.lengths == 0).sum()
    assert empty >= 20
    assert [row for part in cut for row in range(part.start, part.stop)] == list(range(empty, 100))
    for part in cut:
        size, longest = part.stop - part.start, int(ordered.lengths[part.stop - 1])
        assert longest <= 2 * ordered.lengths[part.start]
        assert size == 1 or size <= most_rows
        assert size == 1 or size * device_least_squares.row_bytes(longest, factors) <= most_bytes
    there = ordered.solve(torch.from_numpy(fixed), torch.from_numpy(start), 7.0, 3).numpy()
    products = there @ fixed.T
    squares = als.to_axes(fixed, start)
    als.solve(rows, fixed, start, squares=squares, alpha=7.0, reg=reg, steps=3)
    np.testing.assert_allclose(products, start @ fixed.T, atol=1e-5)
    assert (there[np.diff(rows.first) == 0] == 0).all()


@pytest.mark.parametrize("check", [checks.check_fold_in, checks.check_histories, checks.check_stages])
def test_als_keeps_its_promises_elsewhere(check: checks.Check, elsewhere: None) -> None:
    check(lambda: als.ALS(factors=8, iterations=4))


def test_least_squares_state_their_memory_by_the_data() -> None:
    small, more, large = (device_least_squares.least_squares_bytes(64, 1000, 500, n) for n in (10**3, 10**4, 10**8))
    assert small < more < 1 << 28
    assert (1 << 30) < large < (1 << 30) + 16 * 10**8 + (1 << 28)
