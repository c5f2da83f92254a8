"""The training loop and what all neural algorithms promise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import settled_device
from recassay.algorithms.kernels.device_lists import DeviceRecommender
from recassay.algorithms.kernels.scoring import ScoreRecommender
from recassay.core.errors import NotEnoughMemoryError, RecAssayError, UsageError
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.testing import check_algorithm, checks
from recassay.testing.answers import alike, answer, everyone
from recassay.testing.examples import learnable_tastes
from support.neural import TINY, tiny

torch = pytest.importorskip("torch")

from recassay.algorithms.neural.chance import STEP, Chance  # noqa: E402
from recassay.algorithms.neural.events import Events  # noqa: E402
from recassay.algorithms.neural.links import Links, balanced, degrees  # noqa: E402
from recassay.algorithms.neural.training import AVERAGED  # noqa: E402


@pytest.fixture(scope="module")
def events() -> Events:
    """Users with no item, some, all but one and all items."""
    rng = derived_rng(1, "events")
    dense = (rng.random((40, 25)) < 0.3).astype(np.float32)
    dense[0], dense[1], dense[2] = 0, 1, 1
    dense[2, 7] = 0
    return Events(csr_array(dense), Chance(rng, "cpu"))


def dense_of(events: Events) -> np.ndarray:
    return events.profiles(torch.arange(events.n_users)).numpy()


def test_every_neural_algorithm_is_in_the_suite():
    neural = {name for name in algorithms.names() if ".neural." in algorithms.get(name).__module__}
    assert neural == set(TINY)


@pytest.mark.parametrize("name", sorted(TINY))
def test_promises(name):
    check_algorithm(tiny(name), skip={"check_learns"})


@pytest.mark.parametrize("name", sorted(TINY))
def test_learnable_tastes_are_learned(name):
    checks.check_learns(tiny(name, **{"epochs": 40, "rate": 0.01, "batch": 256}))


@pytest.mark.parametrize("name", sorted(TINY))
def test_any_stage_is_the_model_of_that_many_epochs(name):
    train, _ = learnable_tastes(n_groups=2, users_per_group=30, items_per_group=30)
    stages = list(tiny(name, epochs=4)().fit_steps(train, rng=derived_rng(7, "conformance")))
    assert [stage.iterations for stage in stages] == [1, 2, 3, 4]
    second = stages[1].recommend(everyone(train), 10, exclude=train.csr())
    assert alike(second, answer(tiny(name, epochs=2)(), train))


def test_the_model_has_the_averaged_weights_and_training_does_not():
    train, _ = learnable_tastes(n_groups=2, users_per_group=30, items_per_group=30)
    training = tiny("LightGCN")().training(train, derived_rng(3, "average"))
    average = training.network.items.detach().clone()
    for epoch in range(1, 6):
        training.advance(1)
        last = training.network.items.detach().clone()
        kept = min(AVERAGED, (epoch - 1) / (epoch + 8))
        average = kept * average + (1 - kept) * last
        seen: list[torch.Tensor] = []
        training.network.scorer = lambda into=seen: into.append(training.network.items.detach().clone())
        training.model()
        torch.testing.assert_close(seen[0], average)
        assert torch.equal(training.network.items, last)
    assert not torch.allclose(average, last)


def test_profiles_are_the_rows_of_the_matrix(events):
    users = torch.tensor([5, 0, 1, 5])
    assert torch.equal(events.profiles(users), events.profiles(torch.arange(40))[users])
    assert dense_of(events).sum() == len(events)
    assert events.active.tolist() == sorted(set(events.user.tolist()))
    assert set(events.user[events.pairs].tolist()) == set(events.user.tolist()) - {1}


def test_negatives_are_drawn_evenly_among_what_a_user_lacks(events):
    users = torch.tensor([0, 2, 3, 9]).repeat_interleave(5000)
    drawn = events.negatives(users, 2).numpy()
    dense = dense_of(events)
    assert not dense[users.numpy()[:, None], drawn].any()
    for place, user in enumerate((0, 2, 3, 9)):
        counts = np.bincount(drawn[place * 5000 : (place + 1) * 5000].ravel(), minlength=25)
        lacked = np.flatnonzero(dense[user] == 0)
        assert set(np.flatnonzero(counts)) == set(lacked)
        expected = 10_000 / len(lacked)
        squares = ((counts[lacked] - expected) ** 2 / expected).sum()
        assert squares < len(lacked) + 4 * np.sqrt(2 * len(lacked))


def test_an_epoch_meets_every_entry_once_in_another_order(events):
    first, second = (torch.cat(list(events.batches(events.pairs, 7))) for _ in range(2))
    assert torch.equal(first.sort().values, events.pairs)
    assert torch.equal(second.sort().values, events.pairs)
    assert not torch.equal(first, second)


def test_products_with_links_and_their_gradients(events):
    dense = torch.from_numpy(dense_of(events)).double()
    values = torch.arange(1.0, len(events) + 1, dtype=torch.float64)
    dense[events.user, events.item] = values
    links = Links(events).weighted(values)
    users, items = torch.randn(40, 3, dtype=torch.float64), torch.randn(25, 3, dtype=torch.float64)
    for product, matrix, given in ((links.of_items, dense, items), (links.of_users, dense.T, users)):
        assert torch.allclose(product(given), matrix @ given)
        assert torch.autograd.gradcheck(product, given.requires_grad_(True))


def test_balanced_links(events):
    dense = torch.from_numpy(dense_of(events))
    expected = dense / (dense.sum(1, keepdim=True).clamp(min=1) * dense.sum(0, keepdim=True)).sqrt()
    assert torch.allclose(balanced(events), expected[events.user, events.item])
    kept = torch.arange(len(events)) % 3 > 0
    fewer = torch.zeros_like(dense)
    fewer[events.user[kept], events.item[kept]] = 1
    assert torch.equal(degrees(events, kept)[0], fewer.sum(1))
    assert torch.equal(degrees(events, kept)[1], fewer.sum(0))
    assert (balanced(events, kept)[~kept] == 0).all()


@pytest.mark.parametrize("k", [1, 4, 60])
def test_lists_cut_on_a_device_equal_those_of_the_host(k):
    rng = derived_rng(1, "ties")
    scores = rng.integers(-2, 3, size=(30, 50)).astype(np.float32) / 2
    scores[scores == 0] *= np.float32(-1)
    scores[3, :40], scores[4] = -np.inf, -np.inf
    exclude = csr_array((rng.random((30, 50)) < 0.2).astype(np.float32))
    users = np.array([29, 3, 4, 0, 17], dtype=np.int32)
    host = ScoreRecommender(lambda u: scores[u], n_items=50, rng=derived_rng(2, "lists"))
    there = DeviceRecommender(
        lambda u: torch.from_numpy(scores)[u], n_items=50, rng=derived_rng(2, "lists"), device="cpu"
    )
    for barred in (None, exclude):
        expected, found = (one.recommend(users, k, exclude=barred) for one in (host, there))
        assert np.array_equal(expected.items, found.items)
        assert np.array_equal(expected.scores, found.scores)


def test_torch_is_left_as_it_was():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    train, _ = learnable_tastes()
    answer(tiny("MultiVAE")(), train)
    assert torch.equal(state, torch.get_rng_state())
    assert not torch.are_deterministic_algorithms_enabled()
    assert threads == torch.get_num_threads()
    assert torch.backends.mkldnn.enabled is True or torch.backends.mkldnn.is_available() is False


def test_training_that_diverges_says_so():
    train, _ = learnable_tastes()
    with pytest.raises(RecAssayError, match=r"loss is not finite after epoch .*use a smaller rate"):
        answer(tiny("MultiVAE", rate=1e30)(), train)


def test_what_cannot_be_is_refused_in_one_line(monkeypatch):
    kind = algorithms.get("LightGCN")
    with pytest.raises(UsageError, match="LightGCN has no device 'gpu'"):
        kind(device="gpu")
    with pytest.raises(UsageError, match="epochs = 0"):
        kind(epochs=0)
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match=r"finds no such device.*use device = 'cpu'"):
            settled_device("cuda", "LightGCN")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (10**6, 10**9))
    from recassay.algorithms.kernels.device import require_gpu_memory

    with pytest.raises(NotEnoughMemoryError, match=r"about 2 GB of GPU memory, and 0.001 GB are free"):
        require_gpu_memory(2 * 10**9, "cuda", "LightGCN")


def test_without_torch_algorithms_are_listed_and_one_line_says_what_is_missing(tmp_path):
    code = """
import sys
sys.modules["torch"] = None
import recassay
rows = {row["name"]: row for row in recassay.list_available("algorithms")}
assert "variational" in rows["MultiVAE"]["what"].lower(), rows["MultiVAE"]
from recassay.core.errors import MissingExtraError
from recassay.core.registry import algorithms
from recassay.testing.answers import answer
from recassay.testing.examples import learnable_tastes
made = algorithms.get("MultiVAE")()
assert made.memory_bytes(100, 100, 1000) > 0
try:
    answer(made, learnable_tastes()[0])
except MissingExtraError as error:
    print(error)
from recassay.cli.main import main
main(["run", "--datasets", "synthetic:few-items", "--algorithms", "MostPop,MultiVAE", "--out", "unused"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    said = "needs torch; install it with: pip install 'recassay[neural]'"
    assert done.stdout.splitlines() == [f"this algorithm {said}"]
    assert (done.returncode, done.stderr.splitlines()) == (2, [f"recassay: the algorithm 'MultiVAE' {said}"])
    assert not list(tmp_path.iterdir())


def test_chance_is_splitmix64():
    """The first outputs of the reference implementation for the seed 1234567."""
    chance = Chance(derived_rng(1), "cpu")
    chance._key = 1234567 + STEP
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [bits % 2**64 for bits in chance._bits(4).tolist()] == published
    assert int(chance._bits(1)) % 2**64 == 16408922859458223821, "draws go on where the last ended"


def test_chance_is_even_and_normal():
    chance = Chance(derived_rng(2), "cpu")
    even = chance.uniform(400, 501).double().flatten()
    assert 0 <= float(even.min()) < float(even.max()) < 1
    counts = torch.histc(even, 64, 0, 1)
    expected = len(even) / 64
    assert float(((counts - expected) ** 2 / expected).sum()) < 63 + 4 * np.sqrt(2 * 63)
    normal = chance.normal(400, 501).double().flatten()
    for power, moment, error in ((1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5), (4, 3, 96**0.5)):
        assert abs(float((normal**power).mean()) - moment) < 4 * error / len(normal) ** 0.5
    for drawn in (even - even.mean(), normal):
        assert abs(float((drawn[1:] * drawn[:-1]).mean() / drawn.var())) < 4 / len(drawn) ** 0.5
    assert torch.equal(chance.permutation(1000).sort().values, torch.arange(1000))
    kept = chance.dropout(torch.ones(1000, 100), 0.3)
    assert kept.unique().tolist() == pytest.approx([0.0, 1 / 0.7])
    assert abs(float((kept > 0).float().mean()) - 0.7) < 4 * (0.21 / 1e5) ** 0.5
