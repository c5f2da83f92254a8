"""Linear and neighbour algorithms by torch: the same recommendations as without it.

`cpu:0` is the processor for torch, and not `cpu` for the algorithms: they then take the way that they take on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recassay.algorithms import graph_filters, linear, neighbours
from recassay.algorithms.kernels import device
from recassay.algorithms.kernels.device_products import dense_weights_bytes
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.types import TopK
from recassay.testing.answers import alike, everyone
from recassay.testing.examples import learnable_tastes

pytest.importorskip("torch")

MADE = {
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
    for module in (linear, neighbours):
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
