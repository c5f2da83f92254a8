"""Parts that algorithms share: stages, rows without events, kept neighbour lists, slices of rows, and devices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.algorithms import linear
from recassay.algorithms.als import ALS
from recassay.algorithms.kernels import (
    compiled,
    counts,
    device,
    device_lists,
    device_products,
    products,
    scoring,
    similarity,
    sparse_neighbours,
)
from recassay.algorithms.kernels.dense_lists import best_of_rows
from recassay.algorithms.kernels.device_lists import DeviceRecommender, torch_recommender
from recassay.algorithms.kernels.positives import Positives
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.scoring import FactorRecommender, ScoreRecommender, scoring_bytes
from recassay.algorithms.kernels.similarity import NeighbourLists
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender
from recassay.algorithms.kernels.stages import Iterated
from recassay.algorithms.linear import EASE
from recassay.algorithms.nmf import NMF, descend
from recassay.algorithms.rating_mf import RatingMF
from recassay.algorithms.svd import PureSVD, right_singular_vectors
from recassay.core.errors import InputError, MissingExtraError, NotEnoughMemoryError, UsageError
from recassay.core.ranking import select_placed, tie_order
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import fixed
from recassay.testing.examples import example_interactions


class Counting(Iterated[Any]):
    """A training whose model is the number of its iterations."""

    name = "Counting"
    iterations: int = fixed(20, least=1)

    def training(self, train: Any, rng: Any) -> Any:
        done: list[int] = []
        return SimpleNamespace(advance=done.append, model=lambda: sum(done))


@pytest.mark.parametrize(
    ("iterations", "stages"), [(20, [2, 5, 7, 10, 12, 15, 17, 20]), (8, [*range(1, 9)]), (3, [1, 2, 3]), (1, [1])]
)
def test_stages_are_of_nearly_equal_length_and_end_with_the_last_iteration(iterations, stages):
    made = Counting(iterations=iterations)
    assert list(made.fit_steps(None, rng=None)) == stages
    assert made.fit(None, rng=None) == iterations


FEW = example_interactions(np.array([1, 1, 2]), np.array([1, 2, 2]), n_users=4, n_items=4)
"""Users 0 and 3 have nothing, and nobody has the items 0 and 3."""


@pytest.mark.parametrize("algorithm", [ALS(factors=2, iterations=1), NMF(factors=2, iterations=1)])
def test_users_and_items_without_events_get_zeros(algorithm):
    model = algorithm.fit(FEW, rng=derived_rng(1))
    for factors in (model.user_factors, model.item_factors):
        assert (factors == 0).all(axis=1).tolist() == [True, False, False, True]


def test_users_and_items_without_ratings_keep_a_bias_of_zero():
    model = RatingMF(factors=2, iterations=3).fit(FEW, rng=derived_rng(1))
    mean = np.float32(FEW.weight.mean(dtype=np.float64))
    assert (model.user_factors[:, -1] == mean).tolist() == [True, False, False, True]
    assert (model.item_bias == 0).tolist() == [True, False, False, True]


def test_a_factor_that_nobody_has_is_left_alone():
    fixed_side = np.array([[0.0, 1.0]] * 4, dtype=np.float32)
    moved = np.full((4, 2), 0.5, dtype=np.float32)
    descend(Positives.of(FEW), fixed_side, moved, reg=0.0)
    assert moved[1].tolist() == [0.5, 0.5]  # of four items the user has two
    assert moved[2].tolist() == [0.5, 0.25]
    assert moved[3].tolist() == [0.0, 0.0]


def test_pure_svd_of_fewer_users_than_items_leaves_out_what_is_not_there():
    twins = example_interactions(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), n_users=3, n_items=5)
    model = PureSVD(factors=3).fit(twins, rng=derived_rng(1))
    assert model.item_factors.shape == (5, 2)
    np.testing.assert_allclose(model.user_factors @ model.item_factors.T, twins.csr().toarray(), atol=1e-6)
    largest = PureSVD(factors=1).fit(twins, rng=derived_rng(1))
    np.testing.assert_allclose(
        largest.user_factors @ largest.item_factors.T, twins.csr().toarray() * [[1], [1], [0]], atol=1e-6
    )


def test_singular_vectors_come_largest_first():
    matrix = csr_array((np.random.default_rng(2).random((260, 230)) < 0.1).astype(np.float32))
    vectors = right_singular_vectors(matrix, 5, derived_rng(1))
    expected = np.linalg.svd(matrix.toarray(), compute_uv=False)[:5]
    np.testing.assert_allclose(np.linalg.norm(matrix @ vectors, axis=0), expected, rtol=1e-4)
    every = np.linalg.norm(matrix @ right_singular_vectors(matrix, 300, derived_rng(1)), axis=0)
    np.testing.assert_allclose(every, np.linalg.svd(matrix.toarray(), compute_uv=False), rtol=1e-3)


def test_the_order_of_ties_is_that_of_chance_when_the_model_was_made():
    generator, users = derived_rng(1), np.arange(2, dtype=np.int32)
    even = {"n_items": 50, "rng": generator}
    made = ScoreRecommender(lambda users: np.zeros((len(users), 50), dtype=np.float32), **even)
    fresh = tie_order(50, derived_rng(1))
    generator.random(9)
    assert made.recommend(users, 50, exclude=None).items.tolist() == [np.argsort(fresh).tolist()] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_the_lists_of_a_large_block_are_chosen_in_parts(monkeypatch, threads):
    rng = derived_rng(4, "scores")
    scores = rng.integers(0, 9, (150, 70)).astype(np.float32)  # many ties
    exclude = csr_array(rng.random((150, 70)) < 0.2)
    users = rng.permutation(150).astype(np.int32)[:141]

    def lists() -> Any:
        made = ScoreRecommender(lambda users: scores[users], n_items=70, rng=derived_rng(1))
        return [made.recommend(users, k, exclude=barred) for k in (3, 60) for barred in (None, exclude)]

    whole = lists()
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    monkeypatch.setattr(scoring, "MANY_SCORES", 0)
    for long in (1, scoring.LONG):
        monkeypatch.setattr(scoring, "LONG", long)
        for expected, found in zip(whole, lists(), strict=True):
            np.testing.assert_array_equal(found.items, expected.items)
            np.testing.assert_array_equal(found.scores, expected.scores)


@given(
    n_items=st.integers(1, 300),
    k=st.integers(1, 40),
    levels=st.integers(1, 400),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_best_of_dense_rows_are_those_of_the_whole_rows(n_items, k, levels, share, seed):
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, levels, (11, n_items)) - levels // 2).astype(np.float32)
    scores[rng.random(scores.shape) < 0.1] = -0.0
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    exclude = csr_array(rng.random(scores.shape) < share)
    exclude.indices[:] = [item for row in range(11) for item in rng.permutation(exclude[[row]].indices)]
    exclude.has_sorted_indices = False
    place = tie_order(n_items, rng)
    for barred in (None, exclude):
        items, best = best_of_rows(scores, barred, place, k)
        expected = select_placed(scores, k, place, exclude=barred)
        np.testing.assert_array_equal(items, expected[0])
        np.testing.assert_array_equal(best, expected[1])


def test_a_score_that_is_not_a_number_is_named_in_a_large_block(monkeypatch):
    monkeypatch.setattr(scoring, "MANY_SCORES", 0)
    monkeypatch.setattr(scoring, "LONG", 1)
    scores = np.zeros((3, 90), dtype=np.float32)
    scores[1, 88] = np.nan
    made = ScoreRecommender(lambda users: scores[users], n_items=90, rng=derived_rng(1))
    with pytest.raises(InputError, match="the first in row 1 for item 88"):
        made.recommend(np.arange(3, dtype=np.int32), 5, exclude=None)


def test_factors_are_multiplied_alike_by_any_number_of_threads(monkeypatch):
    rng = derived_rng(5, "factors")
    users, items, bias = (rng.normal(size=size).astype(np.float32) for size in ((40, 16), (5000, 16), 5000))
    monkeypatch.setattr(scoring, "MANY_SCORES", 0)

    def lists(threads: int) -> Any:
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        made = FactorRecommender(users, items, bias, rng=derived_rng(1))
        return made.recommend(np.arange(40, dtype=np.int32), 20, exclude=None)

    one, three = lists(1), lists(3)
    np.testing.assert_array_equal(three.scores, one.scores)
    np.testing.assert_array_equal(three.items, one.items)
    scores = users @ items.T + bias
    assert np.array_equal(one.items, np.argsort(-scores, axis=1)[:, :20])
    np.testing.assert_allclose(one.scores, -np.sort(-scores, axis=1)[:, :20], rtol=1e-5)


def test_neighbour_lists_are_kept_by_setting_and_those_used_last_stay(monkeypatch):
    profiles = csr_array((np.random.default_rng(1).random((12, 30)) < 0.3).astype(np.float32))
    made, real = [], similarity.nearest

    def nearest(rows, k, setting, where):
        made.append(setting[2])
        return real(rows, k, setting, where)

    monkeypatch.setattr(similarity, "nearest", nearest)
    lists = NeighbourLists(profiles)
    for shrink, computed in ((0.0, 1), (9.0, 2), (3.0, 3), (0.0, 3), (1.0, 4), (0.0, 4), (3.0, 4), (9.0, 5)):
        found = lists.nearest(4, ("cosine", "none", shrink))
        expected = real(profiles, 4, ("cosine", "none", shrink))
        np.testing.assert_array_equal(found.similarity, expected.similarity)
        np.testing.assert_array_equal(found.profile, expected.profile)
        assert len(made) == computed, shrink
    made.clear()
    for k in (500, 500, 12, 3):
        lists.nearest(k, ("cosine", "none", 9.0))
    assert len(made) == 1, "there are no more profiles than these"
    for other in (("jaccard", "none", 9.0), ("cosine", "tfidf", 9.0)):
        np.testing.assert_array_equal(lists.nearest(4, other).similarity, real(profiles, 4, other).similarity)


@pytest.mark.parametrize(
    ("items", "held", "crowded"),
    [(3, 0, True), (4, 2, False), (4, 3, True), (10, 5, False), (10, 6, True), (11, 11, False)],
)
def test_counts_are_dense_for_small_catalogues_and_where_many_pairs_occur(monkeypatch, items, held, crowded):
    monkeypatch.setattr(counts, "SMALL_CATALOGUE", 3)
    monkeypatch.setattr(counts, "LARGE_CATALOGUE", 10)
    history = csr_array((np.arange(items)[None, :] < held).astype(np.float32))  # one user with so many items
    assert counts.is_crowded(history) == crowded


def test_lists_are_sorted_some_rows_at_a_time(monkeypatch):
    draws = np.random.default_rng(5)
    left, right = (csr_array((draws.random(shape) < 0.4).astype(np.float32)) for shape in ((23, 8), (8, 23)))
    rows, columns, place = SparseRows.of(left), SparseRows.of(right), draws.permutation(23).astype(np.int32)
    whole = sparse_neighbours.largest_products(rows, columns, 4, place)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    monkeypatch.setattr(sparse_neighbours, "ROWS_AT_ONCE", 5)
    parts = sparse_neighbours.largest_products(rows, columns, 4, place)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_that_are_no_numbers_are_refused_on_either_side():
    good, bad = (csr_array(np.array([[1.0, 2.0], [number, 1.0]], dtype=np.float32)) for number in (3.0, np.inf))
    for left, right in ((good, bad), (bad, good)):
        with pytest.raises(InputError, match="a weight of the model is not a number"):
            SparseRecommender(left, right, rng=derived_rng(1))


def test_a_gpu_takes_the_matrices_of_ease_from_the_host(monkeypatch):
    monkeypatch.setattr(linear, "settled_device", lambda *_: "cuda")
    assert EASE.shared(FEW) is None
    beside = 48 * 20_000 + 16 * 1_500 + scoring_bytes(500)
    assert EASE().memory_bytes(1_000, 500, 20_000) == (300 << 20) + beside
    monkeypatch.setattr(linear, "refuse_dense", lambda *_: pytest.fail("the host holds no such matrix"))
    assert EASE()._device(FEW) == "cuda"


def test_a_matrix_that_just_fits_is_made(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    users = np.zeros(3, dtype=np.int32)
    train = example_interactions(users, np.arange(3), n_users=1, n_items=100)
    for machine, refused in ((None, False), (80_000, False), (79_999, True)):
        monkeypatch.setattr(products, "machine_bytes", lambda machine=machine: machine)
        if refused:
            with pytest.raises(UsageError, match=r"EASE holds dense matrices of 100 x 100 items, about 8e-05 GB, and"):
                EASE.shared(train)
        else:
            assert EASE.shared(train).sum() == 9


@pytest.mark.parametrize(
    ("threads", "rows", "options", "parts"),
    [
        (1, 100, {}, 1), (3, 100, {}, 20), (3, 100, {"alone": True}, 1), (3, 1, {}, 1), (3, 0, {}, 1), (1, 0, {}, 1),
        (3, 100, {"size": 33}, 4), (1, 100, {"size": 50}, 2), (3, 5, {}, 5),
    ],
)  # fmt: skip
def test_slices_cover_all_rows_in_order(monkeypatch, threads, rows, options, parts):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    found = compiled.in_parallel(lambda part: part, rows, **options)
    assert [row for part in found for row in range(part.start, part.stop)] == list(range(rows))
    assert len(found) == parts


def fake_torch(*, cuda: bool = False, mps: bool = False, gpus: int = 3, free: int = 10**6) -> Any:
    return SimpleNamespace(
        cuda=SimpleNamespace(
            is_available=lambda: cuda,
            device_count=lambda: gpus,
            get_device_name=lambda number: f"GPU {number}",
            mem_get_info=lambda: (free, 10**9),
        ),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
        __version__="2.0",
    )


@pytest.fixture
def there(monkeypatch):
    """States what this machine has: a GPU, torch, and what torch finds."""

    def state(*, gpu: bool, installed: bool = True, **found: Any) -> None:
        monkeypatch.setattr(device, "has_gpu", lambda: gpu)
        monkeypatch.setattr(device, "has_torch", lambda: installed)
        monkeypatch.setattr(device, "torch", fake_torch(**found))

    return state


@pytest.mark.parametrize(
    ("asked", "has", "settled"),
    [
        ("cpu", {"gpu": True, "cuda": True, "mps": True}, "cpu"),
        ("auto", {"gpu": True, "cuda": True}, "cuda"),
        ("auto", {"gpu": False, "cuda": True}, "cpu"),
        ("auto", {"gpu": True, "cuda": True, "installed": False}, "cpu"),
        ("auto", {"gpu": True, "cuda": False, "mps": True}, "cpu"),
        ("cuda", {"gpu": False, "cuda": True}, "cuda"),
        ("mps", {"gpu": False, "mps": True}, "mps"),
    ],
)
def test_where_an_algorithm_computes(there, asked, has, settled):
    there(**has)
    assert device.settled_device(asked, "EASE") == settled


def test_a_device_that_is_not_there_is_refused(there):
    for asked, has in (("cuda", {"cuda": False, "mps": True}), ("mps", {"cuda": True, "mps": False})):
        there(gpu=True, **has)
        with pytest.raises(UsageError, match=f"EASE is to run on '{asked}', and torch 2.0 finds no such device; use"):
            device.settled_device(asked, "EASE")
    there(gpu=True, cuda=True, installed=False)
    with pytest.raises(MissingExtraError, match="EASE on cuda needs torch"):
        device.settled_device("cuda", "EASE")


@pytest.mark.parametrize(
    ("variable", "files", "found"),
    [
        (None, ["nvidia0"], True),
        (None, ["nvidiactl", "nvidia-uvm"], False),
        (None, ["dxg"], True),
        ("0", ["nvidia12"], True),
        (" -1 ", ["nvidia0"], False),
        (" ", ["nvidia0"], False),
    ],
)
def test_a_gpu_is_seen_by_its_device_file(monkeypatch, tmp_path, variable, files, found):
    for name in files:
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).touch()
    monkeypatch.setattr(device, "Path", lambda place: tmp_path / place.strip("/"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert device.has_gpu() == found


@pytest.mark.parametrize("found", [True, False])
def test_a_gpu_of_windows_is_seen_by_its_program(monkeypatch, found):
    monkeypatch.setattr(device, "os", SimpleNamespace(name="nt", environ={}))
    monkeypatch.setattr(device, "shutil", SimpleNamespace(which={"nvidia-smi": "C:/smi" if found else None}.get))
    assert device.has_gpu() is found


def test_which_gpus_may_be_used(monkeypatch, there):
    there(gpu=True, gpus=2)
    assert (device.gpu_count(), device.gpu_name()) == (2, "GPU 0")
    for variable, gpus in (("", ("0", "1")), ("3, 5,7", ("3", "5")), ("GPU-a,", ("GPU-a",))):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
        assert device.visible_gpus() == gpus
    for absent in ({"gpu": False}, {"gpu": True, "installed": False}, {"gpu": True, "gpus": 0}):
        there(**absent)
        assert (device.gpu_count(), device.gpu_name(), device.visible_gpus()) == (0, None, ())


def test_memory_is_asked_of_a_cuda_gpu_alone(there):
    there(gpu=True, free=1000)
    device.require_gpu_memory(1000, "cuda", "EASE")
    device.require_gpu_memory(10**15, "mps", "EASE")
    with pytest.raises(NotEnoughMemoryError, match="use smaller parameters, or device = 'cpu'"):
        device.require_gpu_memory(1001, "cuda", "EASE")


def failing(torch: Any) -> None:
    with device.reproducible(), device.tensor_cores(allowed=True):
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.backends.cuda.matmul.allow_tf32
        raise torch.OutOfMemoryError("CUDA  out\nof memory")


def test_torch_is_left_as_it_was_where_a_gpu_runs_out_of_memory():
    torch = pytest.importorskip("torch")
    filled = torch.utils.deterministic.fill_uninitialized_memory
    with pytest.raises(NotEnoughMemoryError, match="the GPU ran out of memory: CUDA out of memory; use smaller"):
        failing(torch)
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.backends.cuda.matmul.allow_tf32
    assert torch.utils.deterministic.fill_uninitialized_memory == filled


@pytest.mark.parametrize(("set_before", "inside"), [(None, ":4096:8"), (":16:8", ":16:8")])
def test_cublas_adds_up_in_a_fixed_order_unless_another_is_set(monkeypatch, set_before, inside):
    pytest.importorskip("torch")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    if set_before is not None:
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", set_before)
    with device.reproducible():
        assert device.os.environ["CUBLAS_WORKSPACE_CONFIG"] == inside


def test_torch_that_was_to_be_reproducible_stays_so():
    torch = pytest.importorskip("torch")
    torch.use_deterministic_algorithms(True)
    try:
        with device.reproducible(), device.tensor_cores(allowed=False):
            assert not torch.backends.cuda.matmul.allow_tf32
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def test_lists_of_a_device_are_made_in_blocks_of_users(monkeypatch):
    torch = pytest.importorskip("torch")
    scores = np.random.default_rng(1).integers(0, 4, (9, 12)).astype(np.float32)
    exclude = csr_array((np.random.default_rng(2).random((9, 12)) < 0.4).astype(np.float32))
    monkeypatch.setattr(device_lists, "USERS_AT_ONCE", 2)
    asked = []

    def score(users: Any) -> Any:
        asked.append(users.tolist())
        return torch.from_numpy(scores)[users]

    users = np.array([7, 1, 3, 8, 0], dtype=np.int32)
    there = DeviceRecommender(score, n_items=12, rng=derived_rng(1), device="cpu")
    here = ScoreRecommender(lambda u: scores[u], n_items=12, rng=derived_rng(1))
    for barred in (None, exclude):
        found, expected = (one.recommend(users, 5, exclude=barred) for one in (there, here))
        np.testing.assert_array_equal(found.items, expected.items)
        np.testing.assert_array_equal(found.scores, expected.scores)
    assert asked[:3] == [[7, 1], [3, 8], [0, 0]]
    assert isinstance(torch_recommender(score, n_items=12, rng=derived_rng(1), device="cpu"), ScoreRecommender)
    scores[3] = np.where(np.arange(12) % 3, -0.0, 0.0)
    scores[0] = -1 - np.arange(12) % 3
    found, expected = (one.recommend(users, 12, exclude=None) for one in (there, here))
    np.testing.assert_array_equal(found.items, expected.items, err_msg="zeros of both signs are equal")
    scores[3, 4] = np.nan
    with pytest.raises(InputError, match="a score is not a number; use a smaller rate"):
        there.recommend(users, 5, exclude=None)
    assert [device_lists._block_rows(items) for items in (0, 1 << 20, 1 << 40)] == [2, 2, 1]


def test_ease_on_a_device_is_that_of_the_host_and_refuses_the_same(monkeypatch):
    torch = pytest.importorskip("torch")
    held = csr_array((np.random.default_rng(3).random((40, 6)) < 0.5).astype(np.float32))
    asked = []
    monkeypatch.setattr(device_products, "require_gpu_memory", lambda *needed: asked.append(needed))
    found = device_products.ease_weights_on(lambda: device_products.gram_on(held, "cpu"), 3.0, "cpu").numpy()
    np.testing.assert_allclose(found, linear.ease_weights(lambda: products.gram(held), 3.0), atol=1e-6)
    assert asked == [(4 * 6**2, "cpu", "a matrix of items x items")]
    made = []

    def square():
        made.append(1)
        return torch.diag(torch.tensor([1.0, -5.0]))

    with pytest.raises(UsageError, match=r"X'X \+ 2.0 I cannot be inverted; use a larger reg"):
        device_products.ease_weights_on(square, 2.0, "cpu")
    assert len(made) == 2, "once in float32 and once in float64"


def test_pure_svd_of_a_small_side_takes_its_square_matrix():
    beside = 12 * 16 * 5_100 + 40 * 20_000
    for sizes in ((100, 5_000), (5_000, 100)):
        assert PureSVD().memory_bytes(*sizes, 20_000) == 32 * 100**2 + beside
    assert PureSVD(factors=300).memory_bytes(250, 5_000, 0) == 32 * 250**2 + 12 * 250 * 5_250
    assert PureSVD().memory_bytes(200, 5_000, 0) == 32 * 200**2 + 12 * 16 * 5_200
    assert PureSVD().memory_bytes(201, 5_000, 0) == 12 * 201 * 33 + 12 * 16 * 5_201


@pytest.mark.parametrize("kind", ["cosine", "jaccard", "dot"])
def test_neighbours_on_a_device_are_those_of_the_host(kind):
    """Rows 0 and 1 have nothing in common with any other, and row 2 has nothing."""
    pytest.importorskip("torch")
    dense = np.zeros((9, 8), dtype=np.float32)
    dense[0, 6] = dense[1, 7] = 1
    dense[3:, :6] = np.random.default_rng(5).random((6, 6)) < 0.6
    for shrink in (0.0, 4.0):
        here, there = (similarity.nearest(csr_array(dense), 8, (kind, "tfidf", shrink), on) for on in ("cpu", "cpu:0"))
        np.testing.assert_array_equal(here.profile, there.profile)
        np.testing.assert_allclose(here.similarity, there.similarity, rtol=1e-5)
        assert (here.profile[:3] == -1).all()
        assert not (here.profile == np.arange(9)[:, None]).any()


def test_products_on_a_device_in_blocks_and_where_rounding_is_allowed(monkeypatch):
    pytest.importorskip("torch")
    allowed, real = [], device_products.tensor_cores

    def noting(*, allowed: bool, noted: list[bool] = allowed) -> Any:
        noted.append(allowed)
        return real(allowed=allowed)

    monkeypatch.setattr(device_products, "tensor_cores", noting)
    monkeypatch.setattr(device_products, "ROWS_AT_ONCE", 2)
    ones = csr_array((np.random.default_rng(3).random((7, 5)) < 0.5).astype(np.float32))
    for matrix in (ones, csr_array(ones * np.linspace(1, 2, 7)[:, None])):
        square = device_products.gram_on(matrix, "cpu").numpy()
        np.testing.assert_allclose(square, (matrix.T @ matrix).toarray(), rtol=1e-6)
    assert allowed == [True, False], "counts are exact in any precision, other products are not"
    squares = np.asarray(ones.multiply(ones).sum(axis=1), dtype=np.float32).reshape(-1)
    place = np.random.default_rng(4).permutation(7).astype(np.int32)
    whole = device_products.nearest_on(ones, squares, 3, "cosine", 0.5, place, "cpu")
    monkeypatch.setattr(device_products, "BLOCK_BYTES", 2 * 4 * 7)
    for one, other in zip(
        whole, device_products.nearest_on(ones, squares, 3, "cosine", 0.5, place, "cpu"), strict=True
    ):
        np.testing.assert_array_equal(one, other)
