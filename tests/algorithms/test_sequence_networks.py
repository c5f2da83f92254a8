"""What networks on sequences read, learn and answer, against definitions in plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.core.histories import FoldsIn, Histories
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions
from support.neural import tiny

torch = pytest.importorskip("torch")

from recassay.algorithms.neural import next_item  # noqa: E402
from recassay.algorithms.neural.sequences import Ordered, first_filled, room_for  # noqa: E402
from recassay.algorithms.neural.transformer import Filled  # noqa: E402
from support.made import histories  # noqa: E402

NAMES = ("SASRec", "eSASRec", "BERT4Rec", "GRU4Rec")
N_ITEMS = 9


def log(sequences: list[list[int]], n_items: int = N_ITEMS) -> Interactions:
    user = np.repeat(np.arange(len(sequences)), [len(s) for s in sequences])
    item = np.array([item for sequence in sequences for item in sequence])
    tables = pl.Series(range(len(sequences))), pl.Series(range(n_items))
    return Interactions(user.astype(np.int32), item.astype(np.int32), *tables)


SEQUENCES = [[0, 1, 2, 3, 4, 5], [4, 2], [7], [], [1, 3, 1, 3]]


def trained(name: str, train: Interactions | None = None, epochs: int = 1, **more: Any) -> Any:
    train = log(SEQUENCES) if train is None else train
    training = tiny(name, **{"length": 4, **more})().training(train, derived_rng(2, "sequences"))
    training.advance(epochs)
    return training


@pytest.mark.parametrize("at_end", [True, False])
def test_windows_hold_the_newest_items(at_end):
    ordered = Ordered(histories(SEQUENCES), 9, "cpu")
    chosen = torch.tensor([1, 0, 3, 4, 1])
    expected = [[4, 2, 9], [3, 4, 5], [9, 9, 9], [3, 1, 3], [4, 2, 9]]
    if at_end:
        expected[0] = expected[4] = [9, 4, 2]
    assert ordered.windows(chosen, 3, at_end=at_end).tolist() == expected
    nothing = Ordered(histories([[], []]), 9, "cpu").windows(torch.tensor([1]), 2, at_end=at_end)
    assert nothing.tolist() == [[9, 9]]


def test_prefixes_have_every_event_in_one_window():
    rng = np.random.default_rng(1)
    sequences = [list(range(100 * n, 100 * n + int(rng.integers(2, 40)))) for n in range(30)]
    ordered = Ordered(histories(sequences), 4000, "cpu")
    for length in (1, 4, 7, 39, 60):
        owner, prefixes = ordered.cut(torch.tensor([3, 0, 17]), length)
        windows = prefixes.windows(torch.arange(len(owner)), length, at_end=True)
        for history in (3, 0, 17):
            own = windows[owner == history]
            held = sorted(own[own < 4000].tolist())
            assert held == sequences[history][-len(held) :]
            assert len(held) >= len(sequences[history]) - 1
            assert own[0].tolist()[-1] == sequences[history][-1], "the newest window comes first"


def test_every_place_learns_the_item_after_it():
    network = trained("SASRec").network
    tokens, targets, filled = network.next_items(network.among)
    pairs = [
        [(a, b) for a, b, kept in zip(*row, strict=True) if kept]
        for row in zip(tokens.tolist(), targets.tolist(), filled.tolist(), strict=True)
    ]
    assert pairs == [[(1, 2), (2, 3), (3, 4), (4, 5)], [(0, 1)], [(4, 2)], [(1, 3), (3, 1), (1, 3)]]
    assert network.owner.tolist() == [0, 0, 1, 4]


@pytest.mark.parametrize("name", NAMES)
def test_a_known_user_is_asked_with_the_history_of_training(name):
    model = trained(name).model()
    assert isinstance(model, FoldsIn)
    users = np.array([4, 3, 0, 2], dtype=np.int32)
    train = log(SEQUENCES)
    by_user = model.recommend(users, N_ITEMS, exclude=None)
    by_history = model.recommend_from(Histories.of(train, users), N_ITEMS, exclude=None)
    assert np.array_equal(by_user.items, by_history.items)
    np.testing.assert_allclose(by_user.scores, by_history.scores, rtol=1e-5)
    events = np.bincount([i for s in SEQUENCES for i in set(s)], minlength=N_ITEMS)
    assert by_user.scores[1].tolist() == sorted(events.astype(float), reverse=True)
    # A longer history counts by its newest items alone.
    cut = 3 if name == "BERT4Rec" else 4
    long, short = (
        model.recommend_from(histories([s]), 5, exclude=None) for s in ([8, 6, 0, 1, 2, 5], [8, 6, 0, 1, 2, 5][-cut:])
    )
    assert np.array_equal(long.items, short.items)
    other = model.recommend_from(histories([[5, 2, 1, 0]]), 5, exclude=None)
    assert not np.array_equal(other.scores, long.scores)


@pytest.mark.parametrize("name", ["SASRec", "eSASRec", "GRU4Rec"])
def test_a_place_knows_nothing_of_later_ones(name):
    network = trained(name).network
    first, second = (network.read(torch.tensor([tokens]), 0.0)[0] for tokens in ([1, 2, 3, 4], [1, 2, 7, 0]))
    torch.testing.assert_close(first[:2], second[:2])
    assert not torch.allclose(first[2:], second[2:])


@pytest.mark.parametrize("name", ["SASRec", "eSASRec", "BERT4Rec"])
def test_what_stands_for_no_item_is_not_looked_at(name):
    network = trained(name).network
    before = network.read(torch.tensor([[N_ITEMS, N_ITEMS, 3, 4]]), 0.0)[0, 2:]
    with torch.no_grad():
        network.items[N_ITEMS] += 5.0
    torch.testing.assert_close(network.read(torch.tensor([[N_ITEMS, N_ITEMS, 3, 4]]), 0.0)[0, 2:], before)


def test_attention_by_hand():
    network = trained("SASRec", layers=1, heads=2, embedding=4).network
    layer, x = network.layers.layers[0], torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(1))
    everywhere = Filled(torch.ones(1, 4, dtype=torch.bool), alone=True)
    found = layer._attention(x[0], network.layers.later, 2, lambda part: part, everywhere)
    weight, bias = layer.asked.weight, layer.asked.bias
    query, key, value = (x[0] @ weight.T + bias).split(4, dim=1)
    expected = torch.zeros(4, 4)
    for head in (slice(0, 2), slice(2, 4)):
        for place in range(4):
            likeness = torch.stack([query[place, head] @ key[p, head] for p in range(place + 1)]) / math.sqrt(2)
            expected[place, head] = torch.softmax(likeness, dim=0) @ value[: place + 1, head]
    torch.testing.assert_close(found, expected @ layer.answered.weight.T + layer.answered.bias)


@pytest.fixture
def places() -> tuple[Any, ...]:
    """What is known at five places, vectors of items, targets, weights, items drawn."""
    generator = torch.Generator().manual_seed(3)
    known, items = (torch.randn(n, 4, generator=generator, requires_grad=True) for n in (5, 7))
    target, others = torch.tensor([0, 3, 6, 3, 1]), torch.tensor([3, 5, 0])
    return known, items, target, torch.tensor([0.5, 0.2, 0.1, 0.2, 0.0]), others


def by_definition(loss: str, places: tuple[Any, ...]) -> float:
    known, items, target, weight, others = places
    scores, total = (known @ items.T).tolist(), 0.0
    for row in range(5):
        right = scores[row][target[row]]
        wrong = [scores[row][j] for j in others.tolist() if j != target[row]]
        if loss == "softmax":
            each = math.log(sum(map(math.exp, scores[row]))) - right
        elif loss == "sampled":
            each = math.log(math.exp(right) + sum(map(math.exp, wrong))) - right
        else:
            share = 3 / 6
            beta = share * (0.75 * (1 - 1 / share) + 1 / share)
            each = beta * math.log(1 + math.exp(-right)) + sum(math.log(1 + math.exp(s)) for s in wrong)
        total += float(weight[row]) * each
    return total


@pytest.mark.parametrize("loss", ["softmax", "sampled", "gbce"])
def test_losses_are_their_definitions_also_in_parts(loss, places, monkeypatch):
    function = getattr(next_item, f"{loss}_loss")
    more = {"softmax": (), "sampled": (places[4],), "gbce": (places[4], 0.75)}[loss]
    values, gradients = [], []
    for at_once in (1 << 28, 12):
        monkeypatch.setattr(next_item, "SCORES_AT_ONCE", at_once)
        value = function(*places[:4], *more)
        values.append(value.item())
        gradients.append(torch.autograd.grad(value, places[:2]))
    assert values == pytest.approx([by_definition(loss, places)] * 2, rel=1e-5)
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, parts)


def test_binary_loss_with_one_negative(places):
    known, items, target, weight, _ = places
    other = torch.tensor([1, 2, 3, 4, 5])
    scores = (known @ items.T).tolist()
    expected = sum(
        float(weight[r]) * (math.log(1 + math.exp(-scores[r][target[r]])) + math.log(1 + math.exp(scores[r][other[r]])))
        for r in range(5)
    )
    assert next_item.binary_loss(known, items, target, weight, other).item() == pytest.approx(expected, rel=1e-5)


def test_sampling_every_item_is_the_full_softmax():
    full, every = (trained("SASRec", loss=loss, negatives=N_ITEMS, epochs=3) for loss in ("softmax", "sampled"))
    torch.testing.assert_close(full.network.items, every.network.items, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("loss", ["sampled", "gbce", "bce"])
@pytest.mark.parametrize("size", [12, 9])
def test_a_gpu_s_shape_of_the_loss_is_that_of_the_processor(loss, size):
    values = []
    for device in ("cpu", "of one shape"):
        network = trained("SASRec", loss=loss, embedding=size, dropout=0.3).network
        network.events.device = device
        network.events.some_items = lambda n: torch.arange(n) % N_ITEMS
        value = network.loss(torch.tensor([0, 2, 1]))
        value.backward()
        values.append([value.item(), *network.items.grad.flatten().tolist()])
    assert values[0] == pytest.approx(values[1], rel=1e-4, abs=1e-6)


def test_a_batch_has_room_for_what_it_fills():
    fills = np.random.default_rng(0).geometric(0.12, 20_000).clip(max=50)
    room = room_for(fills, 256)
    assert 256 * fills.mean() < room < 256 * 50 / 3
    assert max(fills[start : start + 256].sum() for start in range(0, 20_000, 256)) <= room
    assert room_for(np.full(40, 7), 16) == 16 * 7
    assert room_for(np.array([], dtype=np.int64), 16) == 1
    filled = torch.tensor([False, True, False, True, True, False])
    assert first_filled(filled, 4).tolist() == [1, 3, 4, 0]
    assert first_filled(filled, 2).tolist() == [1, 3]


def test_masks_hide_what_is_learned():
    network = trained("BERT4Rec", masked=0.5, only_last=0.0, dropout=0.1).network
    read, learned_at = [], []
    network.read = lambda tokens, dropout: read.append(tokens) or torch.zeros(*tokens.shape, 12)
    network.to_learn = lambda masked, known, targets: learned_at.append((masked, targets)) or [
        known.flatten(0, 1), targets.flatten(), masked.flatten() / 1.0
    ]  # fmt: skip
    network.loss(torch.tensor([0] * 400))
    (tokens,), ((masked, targets),) = read, learned_at
    assert (tokens[masked] == network.mask).all()
    assert (tokens[~masked] == targets[~masked]).all()
    assert masked.float().mean().item() == pytest.approx(0.5, abs=0.05)
    network.algorithm.only_last = 1.0
    network.loss(torch.tensor([0, 1]))
    assert learned_at[-1][0].tolist() == [[False] * 3 + [True]] * 2
    assert network.asked(network.events.order, torch.tensor([1]))[0].tolist() == [N_ITEMS, 4, 2, N_ITEMS + 1]


@pytest.mark.parametrize("kind", ["cross-entropy", "bpr-max"])
def test_the_losses_of_gru4rec(kind):
    network = trained("GRU4Rec", loss=kind, negatives=6, dropout=0.0, penalty=0.7).network
    events, batch = network.events, torch.tensor([0, 3, 2])
    fixed = torch.rand(6, generator=torch.Generator().manual_seed(2))
    network.chance.uniform = lambda *shape: fixed
    found = network.loss(batch).item()
    others = torch.searchsorted(network.shares, fixed).clamp(max=N_ITEMS - 1).tolist()
    tokens, targets, filled = network.next_items(batch)
    scores = (network.read(tokens, 0.0) @ network.items[:N_ITEMS].T).tolist()
    popular = (events.popularity / events.popularity.sum()).clamp(min=1e-9).tolist()
    root = events.popularity.sqrt() / events.popularity.sqrt().sum()
    total = 0.0
    for w in range(3):
        for p in range(tokens.shape[1]):
            if not filled[w, p]:
                continue
            target = int(targets[w, p])
            beside = [int(targets[v, p]) for v in range(3) if filled[v, p] and int(targets[v, p]) != target]
            drawn = [j for j in others if j != target]
            right, rival = scores[w][p][target], [scores[w][p][j] for j in (*beside, *drawn)]
            if kind == "cross-entropy":
                right -= math.log(popular[target])
                taken = [*(popular[j] for j in beside), *(max(float(root[j]), 1e-9) for j in drawn)]
                rival = [s - math.log(t) for s, t in zip(rival, taken, strict=True)]
                total += math.log(math.exp(right) + sum(map(math.exp, rival))) - right
            else:
                weights = np.exp(rival) / np.exp(rival).sum()
                gain = sum(w_j / (1 + math.exp(s - right)) for w_j, s in zip(weights, rival, strict=True))
                total += -math.log(gain) + 0.7 * sum(w_j * s**2 for w_j, s in zip(weights, rival, strict=True))
    assert found == pytest.approx(total / int(filled.sum()), rel=1e-4)


def test_the_recurrent_layer_is_that_of_torch():
    network = trained("GRU4Rec").network
    layer = torch.nn.GRU(12, 12, batch_first=True)
    square, flat = 3 * 12 * 12, network.layer.detach()
    with torch.no_grad():
        layer.weight_ih_l0.copy_(flat[:square].view(36, 12))
        layer.weight_hh_l0.copy_(flat[square : 2 * square].view(36, 12))
        layer.bias_ih_l0.copy_(flat[2 * square : 2 * square + 36])
        layer.bias_hh_l0.copy_(flat[2 * square + 36 :])
    tokens = torch.tensor([[1, 2, 3, 4], [7, 0, 9, 9]])
    torch.testing.assert_close(network.read(tokens, 0.0), layer(network.items[tokens])[0])


@pytest.mark.parametrize("name", ["SASRec", "GRU4Rec"])
@pytest.mark.parametrize("length", [1, 4])
def test_every_window_has_something_to_learn(name, length):
    network = trained(name, log([[0, 1], [2, 3, 4, 5, 6], [7, 8]]), length=length, batch=1).network
    assert network.owner.tolist() == {1: [0, 1, 1, 1, 1, 2], 4: [0, 1, 2]}[length]
    assert all(network.next_items(window[None])[2].any() for window in network.among)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_always_follows_is_learned(name):
    follows = [[(start + step) % N_ITEMS for step in range(5)] for start in range(N_ITEMS)] * 8
    more = {"BERT4Rec": {"only_last": 0.5}}.get(name, {})
    training = trained(name, log(follows), rate=0.02, batch=24, epochs=25, dropout=0.0, length=6, **more)
    top = training.model().recommend_from(histories([[2, 3], [7, 8, 0]]), 1, exclude=None)
    assert top.items[:, 0].tolist() == [4, 1]


def test_users_who_can_teach_nothing_do_no_harm():
    everything = log([[0, 1, 2], [2], []], n_items=3)
    for name in NAMES:
        training = trained(name, everything)
        assert len(training.network.among) == 0
        assert training.model().recommend(np.arange(3, dtype=np.int32), 3, exclude=None).items.shape == (3, 3)
