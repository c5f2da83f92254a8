"""Factor models: the conformance suite, what each optimises by hand, and the same numbers on any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numba
import numpy as np
import pytest
import threadpoolctl

from recassay.algorithms import als, bpr, latent_class, nmf, rating_mf, svd, warp
from recassay.algorithms.als import ALS, event_weight
from recassay.algorithms.bpr import BPR
from recassay.algorithms.kernels import compiled, pairwise, positives
from recassay.algorithms.kernels.positives import Positives
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.algorithms.latent_class import PLSA, AspectModel
from recassay.algorithms.nmf import NMF
from recassay.algorithms.rating_mf import RatingMF
from recassay.algorithms.svd import PureSVD
from recassay.algorithms.warp import WARP
from recassay.core.errors import NotApplicableError, RecAssayError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray, Interactions
from recassay.testing.examples import example_interactions, learnable_tastes
from support.made import random_events

Make: TypeAlias = Callable[[], Any]

RANKERS: list[Make] = [ALS, BPR, WARP, PureSVD, NMF, PLSA, AspectModel]
MODELS = [*RANKERS, RatingMF]
LARGER_THAN_DATA: list[Make] = [
    lambda: ALS(factors=300),
    lambda: BPR(factors=300),
    lambda: WARP(components=300),
    lambda: PureSVD(factors=300),
    lambda: NMF(factors=300),
    lambda: PLSA(classes=300),
    lambda: AspectModel(classes=300),
    lambda: RatingMF(factors=300),
]


def model_of(algorithm: Any, train: Interactions) -> FactorRecommender:
    model = algorithm.fit(train, rng=derived_rng(5, "fit"))
    assert isinstance(model, FactorRecommender)
    return model


@pytest.mark.parametrize("make", LARGER_THAN_DATA, ids=lambda make: make().name)
def test_more_factors_than_users_or_items_is_no_error(make: Make) -> None:
    train = random_events()
    top = model_of(make(), train).recommend(np.arange(12, dtype=np.int32), 3, exclude=train.csr())
    assert np.isfinite(top.scores[top.items >= 0]).all()
    assert (top.items[:, 0] >= 0).all()


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.name)
def test_no_events_at_all_is_no_error(make: Make) -> None:
    nothing = np.empty(0, dtype=np.int32)
    train = example_interactions(nothing, nothing, n_users=300, n_items=250)
    top = model_of(make(), train).recommend(np.arange(300, dtype=np.int32), 3, exclude=None)
    assert np.isfinite(top.scores).all()


def test_a_large_matrix_of_low_rank_is_no_error() -> None:
    user, item = np.nonzero(np.arange(400)[:, None] % 3 == np.arange(300)[None, :] % 3)
    train = example_interactions(user, item, n_users=400, n_items=300)
    model = model_of(PureSVD(factors=16), train)
    scores = model.user_factors @ model.item_factors.T
    np.testing.assert_allclose(scores, train.csr().toarray(), atol=1e-3)


@pytest.mark.parametrize("make", RANKERS, ids=lambda make: make.name)
def test_learns_tastes_that_popularity_does_not_know(make: Make) -> None:
    """With defaults, but for PureSVD: without regularisation it needs about as many factors as there are tastes."""
    train, test = learnable_tastes()
    algorithm = PureSVD(factors=5) if make is PureSVD else make()
    users, truth = np.arange(train.n_users, dtype=np.int32), test.csr().toarray() > 0

    def recall(items: np.ndarray[Any, Any]) -> float:
        return float(np.take_along_axis(truth, items, axis=1).sum() / truth.sum())

    popular = np.bincount(train.item, minlength=train.n_items) * (train.csr().toarray() == 0)
    by_popularity = recall(np.argsort(-popular, axis=1, kind="stable")[:, :10])
    top = model_of(algorithm, train).recommend(users, 10, exclude=train.csr())
    assert recall(top.items) > 1.4 * by_popularity


@pytest.mark.slow
@pytest.mark.parametrize("make", [ALS, NMF], ids=lambda make: make.name)
def test_threads_do_not_change_the_numbers(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    train, _ = learnable_tastes()
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(compiled, "ROWS_A_BLOCK", 16)
    models = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        models.append(model_of(make(), train))
    for model in models[1:]:
        assert np.array_equal(model.user_factors, models[0].user_factors)
        assert np.array_equal(model.item_factors, models[0].item_factors)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.name)
def test_threads_of_blas_do_not_change_the_numbers(make: Make) -> None:
    train, _ = learnable_tastes(n_groups=6, items_per_group=50)
    factors = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(limits=threads, user_api="blas"):
            factors.append(model_of(make(), train).item_factors)
    assert np.array_equal(factors[0], factors[1])


@pytest.mark.slow
def test_kernels_are_compiled_for_one_set_of_types() -> None:
    """Processes that store two variants of a kernel at the same time could mix them up on disk."""
    for train in (learnable_tastes()[0], random_events()):
        for make in MODELS:
            model_of(make(), train)
    kernels = [als._solve_rows, als._add_events, bpr._learn_pairs, warp._learn_ranks, rating_mf._learn_ratings]
    kernels += [warp._step]
    kernels += [
        nmf._descend_rows,
        latent_class._add_posteriors,
        pairwise._shuffle_rows,
        pairwise._fill_row,
        pairwise.shuffled_visits,
    ]
    made = [kernel.machine_code() if hasattr(kernel, "machine_code") else kernel for kernel in kernels]
    assert max(len(kernel.signatures) for kernel in made) == 1


def test_a_kernel_compiles_where_nothing_can_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", refuse)
    assert compiled.compiled(lambda number: number + 1)(1) == 2


@pytest.mark.parametrize("power", [0.0, 0.7])
def test_als_solves_the_normal_equations(power: float) -> None:
    rows, rng = Positives.of(random_events()), derived_rng(1, "als")
    fixed = rng.standard_normal((9, 4)).astype(np.float32)
    solved = rng.standard_normal((12, 4)).astype(np.float32)
    weight = 6.0 * np.diff(rows.first) + 9
    reg = 0.3 * (weight / weight.mean()) ** power
    np.testing.assert_allclose(als.frequency_scaled(rows, 7.0, 0.3, power), reg, rtol=1e-6)
    products = solved @ fixed.T
    squares = als.to_axes(fixed, solved)
    np.testing.assert_allclose(fixed.T @ fixed, np.diag(squares), atol=1e-5)
    np.testing.assert_allclose(solved @ fixed.T, products, atol=1e-5)
    als.solve(rows, fixed, solved, squares=squares, alpha=7.0, reg=reg.astype(np.float32), steps=12)
    exact = fixed.astype(np.float64)
    for user in range(12):
        items = rows.items[rows.first[user] : rows.first[user + 1]]
        confidence = np.ones(9)
        confidence[items] = 7.0
        preference = np.isin(np.arange(9), items).astype(float)
        left = exact.T @ (confidence[:, None] * exact) + reg[user] * np.eye(4)
        expected = np.linalg.solve(left, exact.T @ (confidence * preference))
        np.testing.assert_allclose(solved[user], expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("alpha", [1.0, 5.0])
def test_als_lowers_its_objective_at_every_stage(alpha: float) -> None:
    train = random_events(40, 30)
    present = train.csr().toarray().astype(np.float64)
    losses = []
    algorithm = ALS(factors=6, iterations=8, alpha=alpha, reg=0.5, dense_above=1.0)
    for model in algorithm.fit_steps(train, rng=derived_rng(2)):
        users, items = model.user_factors.astype(np.float64), model.item_factors.astype(np.float64)
        error = np.where(present > 0, alpha, 1.0) * (present - users @ items.T) ** 2
        losses.append(error.sum() + 0.5 * ((users**2).sum() + (items**2).sum()))
    assert len(losses) == 8
    assert (np.diff(losses) <= 1e-4 * losses[0]).all()
    assert losses[-1] < 0.9 * losses[0]


def test_als_weighs_events_less_on_dense_data() -> None:
    train = random_events(40, 30)
    share = train.csr().nnz / (40 * 30)
    assert share > 0.05
    assert event_weight(ALS(dense_above=share), train) == pytest.approx(20.0)
    assert event_weight(ALS(dense_above=share / 4), train) == pytest.approx(10.0)
    assert event_weight(ALS(alpha=2.0, dense_above=share / 100), train) == 1.0
    assert event_weight(ALS(alpha=0.5, dense_above=share / 100), train) == 0.5


def test_bpr_learns_from_the_hardest_of_the_items_drawn() -> None:
    train = random_events(60, 40)
    model = BPR(factors=8, iterations=5, hardest_of=1).fit(train, rng=derived_rng(1))
    harder = BPR(factors=8, iterations=5, hardest_of=16).fit(train, rng=derived_rng(1))
    assert not np.array_equal(model.item_factors, harder.item_factors)
    # Of 16 draws the popular one is met more often: learning from it holds its bias down.
    popularity = np.bincount(train.item, minlength=40)
    assert np.corrcoef(popularity, harder.item_bias)[0, 1] < np.corrcoef(popularity, model.item_bias)[0, 1]
    with pytest.raises(UsageError, match="BPR cannot work with hardest_of = 0"):
        BPR(hardest_of=0)


def test_more_items_are_drawn_from_a_large_catalogue() -> None:
    assert [pairwise.draws(4, items) for items in (100, 4_000, 4_800, 12_000, 16_000, 41_000)] == [4, 4, 5, 10, 13, 13]
    assert pairwise.draws(1, 41_000) == 1


@pytest.mark.parametrize("kind", [ALS, BPR, WARP])
def test_any_stage_is_the_model_of_that_many_iterations(kind: Any) -> None:
    train, counter = random_events(30, 25), kind.stopped_by
    second = list(kind(**{counter: 6}).fit_steps(train, rng=derived_rng(3)))[1]
    alone = kind(**{counter: second.iterations}).fit(train, rng=derived_rng(3))
    np.testing.assert_array_equal(second.item_factors, alone.item_factors)


def test_a_bpr_step_is_the_gradient_of_its_objective() -> None:
    rng = derived_rng(4, "bpr")
    users, items = (rng.standard_normal((rows, 3)).astype(np.float32) for rows in (1, 2))
    bias = rng.standard_normal(2).astype(np.float32)
    state = state_that_draws(1, below=2)
    rate, reg = 1e-3, 0.7

    def objective(values: FloatArray) -> float:
        mine, better, worse = values[0:3], values[3:6], values[6:9]
        margin = mine @ (better - worse) + values[9] - values[10]
        return float(-np.log1p(np.exp(-margin)) - reg / 2 * (values**2).sum())

    before = np.concatenate([users.ravel(), items.ravel(), bias]).astype(np.float64)
    slope = [(objective(before + step) - objective(before - step)) / 2e-6 for step in 1e-6 * np.eye(len(before))]
    learned = pairwise.Factors(users, items, bias)
    bpr._learn_pairs(*one_event(state), 0, 0, learned, np.float32(rate), np.float32(reg), 1)
    after = np.concatenate([users.ravel(), items.ravel(), bias])
    np.testing.assert_allclose((after - before) / rate, slope, atol=2e-3)


def test_a_warp_step_by_hand() -> None:
    users, items = np.array([[0.5, -1.0]], dtype=np.float32), np.array([[0.2, 0.1], [1.0, -0.4]], dtype=np.float32)
    bias = np.array([0.1, 0.3], dtype=np.float32)
    squares = pairwise.Factors(*(np.full(shape, 4.0, np.float32) for shape in [(1, 2), (2, 2), 2]))
    # score of item 0: 0.1 + 0.1 - 0.1 = 0.1; of item 1: 0.3 + 0.5 + 0.4 = 1.2, which is above 0.1 - 1
    loss, rate = 1.5, 0.2
    losses, state = np.array([loss], np.float32), state_that_draws(1, below=2)
    learned = pairwise.Factors(users, items, bias)
    warp._learn_ranks(*one_event(state), 0, 0, learned, squares, np.float32(rate), losses)
    length = rate * loss / 2.0
    np.testing.assert_allclose(items[0], [0.2 + length * 0.5, 0.1 - length * 1.0], rtol=1e-6)
    np.testing.assert_allclose(items[1], [1.0 - length * 0.5, -0.4 + length * 1.0], rtol=1e-6)
    np.testing.assert_allclose(users[0], [0.5 - length * 0.8, -1.0 + length * 0.5], rtol=1e-6)
    np.testing.assert_allclose(bias, [0.1 + length, 0.3 - length], rtol=1e-6)
    np.testing.assert_allclose(squares[0][0], [4.0 + (loss * 0.8) ** 2, 4.0 + (loss * 0.5) ** 2], rtol=1e-6)
    np.testing.assert_allclose(squares[1], 4.0 + (loss * np.array([[0.5, 1.0], [0.5, 1.0]])) ** 2, rtol=1e-6)
    np.testing.assert_allclose(squares[2], 4.0 + loss**2, rtol=1e-6)


def test_warp_leaves_alone_what_is_ranked_well_enough() -> None:
    users, items = np.array([[1.0]], dtype=np.float32), np.array([[2.0], [0.5]], dtype=np.float32)
    learned = pairwise.Factors(users, items, np.zeros(2, dtype=np.float32))
    squares = pairwise.Factors(*(np.ones(shape, np.float32) for shape in [(1, 1), (2, 1), 2]))
    event = one_event(state_that_draws(1, below=2))
    warp._learn_ranks(*event, 0, 0, learned, squares, np.float32(0.1), warp.rank_losses(2, 10))
    assert items.ravel().tolist() == [2.0, 0.5]


def test_warp_rates_a_violation_by_the_rank_it_suggests() -> None:
    assert warp.rank_losses(101, 4) == pytest.approx(np.log([100, 50, 33, 25]))
    assert warp.rank_losses(2, 3).tolist() == [0.0, 0.0, 0.0]
    assert warp.rank_losses(10**6, 1)[0] == 10.0


def one_event(state: positives.States) -> tuple[Positives, pairwise.Blocks]:
    """User 0 has item 0 and no more: the rows, and their only block."""
    rows = Positives(np.array([0, 1]), np.zeros(1, dtype=np.int32), 2)
    blocks = pairwise.Visits(rows, derived_rng(1), length=1).blocks
    blocks.bounds[0] = [0, 1]
    blocks.users[0] = blocks.places[0] = 0
    blocks.states[0, 0] = state[0]
    return rows, blocks


def state_that_draws(wanted: int, *, below: int) -> positives.States:
    """A state of the generator whose next number is `wanted`."""
    for seed in range(1, 100):
        state = derived_rng(seed).integers(1, 2**63, size=1, dtype=np.uint64)
        if positives.draw(state.copy(), below) == wanted:
            return state
    raise AssertionError("no such state")


def test_draws_are_even_and_rows_are_searched_rightly() -> None:
    state = derived_rng(1).integers(1, 2**63, size=1, dtype=np.uint64)
    counts = np.bincount([positives.draw(state, 5) for _ in range(5000)], minlength=5)
    assert counts.min() > 850
    assert counts.max() < 1150
    row = np.array([1, 4, 7], dtype=np.int32)
    assert [positives.holds(row, item) for item in range(9)] == [item in (1, 4, 7) for item in range(9)]


@pytest.mark.parametrize(("parts", "turns"), [(1, 1), (2, 1), (4, 3)])
def test_an_epoch_visits_every_event_once(parts: int, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_into(parts, monkeypatch)
    monkeypatch.setattr(pairwise, "turns_of", lambda *_: turns)
    rows = Positives.of(random_events(30, 41))
    visits = pairwise.Visits(rows, derived_rng(1), pairwise.EVENTS_A_VISIT)
    orders = []
    for _ in range(2):
        met = np.concatenate([events_of_a_turn(visits, turn) for turn in range(turns)])
        assert np.array_equal(met[np.lexsort(met.T[::-1])], np.column_stack([rows.users(), rows.items]))
        orders.append(met)
    assert not np.array_equal(orders[0], orders[1])


def events_of_a_turn(visits: pairwise.Visits, turn: int) -> np.ndarray[Any, Any]:
    """The users and items that are met in a turn, by visits."""
    blocks, parts = visits.blocks, visits.parts
    _, rounds = visits.next_turn()
    # Every part of users meets every part of items in one of the rounds, and no two in one round the same one.
    assert all(np.array_equal(np.sort(columns), np.arange(parts)) for columns in [*rounds, *rounds.T])
    for row in range(parts):
        visits.fill(row, turn)
    met, owners = [], []
    for row, column in np.ndindex(parts, parts):
        begin, end = blocks.bounds[row, column : column + 2]
        starts = pairwise.shuffled_visits(blocks, begin, end, blocks.states[row, column : column + 1])
        for visit in np.split(np.arange(begin, end), np.sort(starts)[1:] - begin):
            assert len(visit) <= blocks.length
            assert len(set(blocks.users[visit])) <= 1
            assert (blocks.places[visit] // blocks.size == column).all()
            met.append(np.column_stack([blocks.users[visit], blocks.catalogue[blocks.places[visit]]]))
        owners += [(user, row) for user in set(blocks.users[begin:end].tolist())]
    assert len(set(owners)) == len({user for user, _ in owners})
    return np.concatenate(met)


def cut_into(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small data, too, into so many parts."""
    for name, value in (("MOST_PARTS", parts), ("ITEMS_A_PART", 1), ("EVENTS_A_BLOCK", 1), ("MANY_EVENTS", 0)):
        monkeypatch.setattr(pairwise, name, value)


def test_only_large_data_are_cut() -> None:
    sizes = [(1_682, 100_000), (12_101, 198_502), (100, 10**6), (3_266, 389_754), (40_981, 810_128), (10**7, 10**9)]
    assert [pairwise.parts_of(*size) for size in sizes] == [1, 1, 1, 8, 16, 16]


def test_items_are_cut_again_where_users_have_many_events() -> None:
    sizes = [(1, 943, 10**5), (8, 2_999, 389_754), (8, 6_040, 999_611), (16, 29_858, 810_128), (16, 5_000, 1_100_000)]
    assert [pairwise.turns_of(*size) for size in sizes] == [1, 5, 10, 1, 4]


@pytest.mark.parametrize("kind", [BPR, WARP])
def test_threads_do_not_change_what_is_learned_from_pairs(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    train, _ = learnable_tastes()
    cut_into(8, monkeypatch)
    models = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        models.append(model_of(kind(**{kind.stopped_by: 3}), train))
    for model in models[1:]:
        for part in ("user_factors", "item_factors", "item_bias"):
            assert np.array_equal(getattr(model, part), getattr(models[0], part))


@pytest.mark.parametrize("kind", [BPR, WARP])
def test_blocks_learn_tastes_as_well_as_one_block(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    train, test = learnable_tastes()
    truth, users = test.csr().toarray() > 0, np.arange(train.n_users, dtype=np.int32)

    def recall() -> float:
        items = model_of(kind(), train).recommend(users, 10, exclude=train.csr()).items
        return float(np.take_along_axis(truth, items, axis=1).sum() / truth.sum())

    whole = recall()
    cut_into(4, monkeypatch)
    assert recall() > 0.97 * whole


def test_positives_and_their_transpose_are_the_matrix() -> None:
    train = random_events()
    rows, columns = Positives.of(train), Positives.of(train).transposed()
    dense = train.csr().toarray() > 0
    assert np.array_equal(np.column_stack([rows.users(), rows.items]), np.argwhere(dense))
    assert np.array_equal(np.column_stack([columns.users(), columns.items]), np.argwhere(dense.T))


@pytest.mark.parametrize(("n_users", "n_items"), [(12, 9), (9, 12), (260, 230)])
def test_pure_svd_scores_by_projection(n_users: int, n_items: int) -> None:
    train = random_events(n_users, n_items, 0.3)
    model = model_of(PureSVD(factors=5), train)
    matrix = train.csr().toarray().astype(np.float64)
    vectors = np.linalg.svd(matrix)[2][:5].T
    expected = matrix @ vectors @ vectors.T
    np.testing.assert_allclose(model.user_factors @ model.item_factors.T, expected, atol=2e-4)
    assert svd.SMALL_SIDE == 200


def test_nmf_stays_non_negative_and_lowers_its_objective() -> None:
    train = random_events(40, 30)
    present = train.csr().toarray().astype(np.float64)
    losses = []
    for model in NMF(factors=6, iterations=8, reg=0.2).fit_steps(train, rng=derived_rng(2)):
        users, items = model.user_factors.astype(np.float64), model.item_factors.astype(np.float64)
        assert min(users.min(), items.min()) >= 0
        losses.append(((present - users @ items.T) ** 2).sum() + 0.2 * ((users**2).sum() + (items**2).sum()))
    assert (np.diff(losses) <= 1e-5 * losses[0]).all()
    assert losses[-1] < 0.9 * losses[0]


def test_nmf_finds_the_best_value_of_a_single_factor() -> None:
    rows = Positives.of(random_events())
    fixed = derived_rng(1, "nmf").random((9, 1)).astype(np.float32)
    moved = np.ones((12, 1), dtype=np.float32)
    nmf.descend(rows, fixed, moved, reg=0.1)
    present = np.zeros((12, 9))
    present[rows.users(), rows.items] = 1
    expected = present @ fixed / ((fixed**2).sum() + 0.1)
    np.testing.assert_allclose(moved, expected, rtol=1e-5)


def rated(seed: int = 1) -> tuple[Interactions, Interactions]:
    """Ratings of rank 2 with biases, four in five to learn from."""
    rng = derived_rng(seed, "rated")
    n_users, n_items = 120, 80
    taste = rng.standard_normal((n_users, 2)) @ rng.standard_normal((2, n_items))
    rating = 3 + taste + 0.5 * rng.standard_normal((n_users, 1)) + 0.5 * rng.standard_normal((1, n_items))
    user, item = np.nonzero(rng.random((n_users, n_items)) < 0.5)
    events = example_interactions(user, item, n_users=n_users, n_items=n_items)
    events = replace(events, weight=rating[user, item].astype(np.float32))
    learned = rng.random(len(events)) < 0.8
    return events.take(learned), events.take(~learned)


def test_rating_mf_predicts_planted_ratings() -> None:
    train, test = rated()
    assert test.weight is not None
    assert train.weight is not None
    model = model_of(RatingMF(factors=10, iterations=100, reg=0.01, rate=0.02), train)
    assert model.item_bias is not None
    predicted = np.einsum("nf,nf->n", model.user_factors[test.user], model.item_factors[test.item])
    error = test.weight - predicted - model.item_bias[test.item]
    constant = test.weight - train.weight.mean()
    assert np.sqrt((error**2).mean()) < 0.25 * np.sqrt((constant**2).mean())


def test_rating_mf_steps_by_hand() -> None:
    users, items = np.array([[0.5]], dtype=np.float32), np.array([[2.0]], dtype=np.float32)
    user_bias, item_bias = np.array([0.1], dtype=np.float32), np.array([-0.2], dtype=np.float32)
    ids, rating = np.zeros(1, dtype=np.int32), np.array([1.4], dtype=np.float32)
    first, starts = np.array([0, 1]), np.zeros(1, dtype=np.int64)
    events, learned = rating_mf._Ratings(first, ids, ids, rating), rating_mf._Biased(users, items, user_bias, item_bias)
    rating_mf._learn_ratings(events, starts, learned, np.float32(0.1), np.float32(0.5))
    # error = 1.4 - 0.1 + 0.2 - 1.0 = 0.5
    assert users[0, 0] == pytest.approx(0.95 * 0.5 + 0.1 * 0.5 * 2.0)
    assert items[0, 0] == pytest.approx(0.95 * 2.0 + 0.1 * 0.5 * 0.5)
    assert user_bias[0] == pytest.approx(0.95 * 0.1 + 0.05)
    assert item_bias[0] == pytest.approx(0.95 * -0.2 + 0.05)


def test_rating_mf_refuses_data_without_ratings() -> None:
    train = replace(random_events(), weight=None)
    with pytest.raises(
        NotApplicableError, match=r"needs ratings, .* positive_threshold made plain events of them; leave it out"
    ):
        RatingMF().fit(train, rng=derived_rng(1))


def test_rating_mf_says_that_it_diverged_and_on_which_ratings() -> None:
    train, _ = rated()
    assert train.weight is not None
    hours = replace(train, weight=np.where(train.weight > train.weight.mean(), np.float32(9000), np.float32(1)))
    with pytest.raises(RecAssayError, match=r"steps are too long for ratings from 1 to 9000; lower `rate`"):
        RatingMF(factors=10).fit(hours, rng=derived_rng(1))
    assert RatingMF(factors=10, rate=1e-9).fit(hours, rng=derived_rng(1)).item_bias is not None
