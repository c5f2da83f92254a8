"""What is computed by a short cut equals its definition, values and gradients alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.testing.examples import example_interactions

torch = pytest.importorskip("torch")

from recassay.algorithms.kernels.ordered_sums import AT_ONCE, OrderedSums  # noqa: E402
from recassay.algorithms.neural.chance import Chance  # noqa: E402
from recassay.algorithms.neural.diffrec import DiffRec, signal_left  # noqa: E402
from recassay.algorithms.neural.events import Events  # noqa: E402
from recassay.algorithms.neural.lightgcl import leading_parts  # noqa: E402
from recassay.algorithms.neural.lightgcn import contrast  # noqa: E402
from recassay.algorithms.neural.links import Links, balanced, dense_bytes  # noqa: E402
from recassay.algorithms.neural.network import learned  # noqa: E402
from recassay.algorithms.neural.nncf import _sides  # noqa: E402
from recassay.algorithms.neural.ract import ndcg  # noqa: E402
from recassay.algorithms.neural.recvae import log_density  # noqa: E402
from recassay.algorithms.neural.training import Steps  # noqa: E402

N_USERS, N_ITEMS = 30, 20


@pytest.fixture
def events() -> Events:
    rng = derived_rng(3, "losses")
    dense = (rng.random((N_USERS, N_ITEMS)) < 0.3).astype(np.float32)
    dense[0] = 0
    return Events(csr_array(dense), Chance(rng, "cpu"))


def matrix(events: Events) -> Any:
    return events.profiles(torch.arange(N_USERS))


def gradients(loss: Any, *weights: Any) -> list[Any]:
    return list(torch.autograd.grad(loss, weights, retain_graph=True))


def test_the_loss_of_enmf_over_all_pairs(events):
    network = algorithms.get("ENMF")(embedding=5, negative_weight=0.2, device="cpu").network(events)
    with torch.no_grad():
        for weight in network.parameters():
            weight += events.chance.normal(*weight.shape)
    users = torch.tensor([4, 0, 9, 17])
    held = matrix(events)[users]
    scores = (network.users[users] * network.scale) @ network.items.T
    confidence = torch.where(held > 0, 1.0, 0.2)
    expected = (confidence * (held - scores).square()).sum() - held.sum()
    found = network.whole_loss(users, network.users[users])
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    weights = (network.users, network.items, network.scale)
    for one, other in zip(gradients(found, *weights), gradients(expected, *weights), strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_lightgcn_learns_from_the_hardest_of_the_items_drawn(events, monkeypatch):
    network = algorithms.get("LightGCN")(embedding=4, layers=2, reg=0.1, hardest_of=3, device="cpu").network(events)
    batch = torch.tensor([5, 40, 77])
    user, item = events.user[batch], events.item[batch]
    drawn = torch.stack([(matrix(events)[u] == 0).nonzero()[[0, 2, 4], 0] for u in user])
    monkeypatch.setattr(events, "negatives", lambda users, n: drawn[:, :n])
    users, items = network.embeddings()
    scores = (users[user][:, None] * items[drawn]).sum(2)
    worse = drawn[torch.arange(3), scores.argmax(1)]
    assert worse.tolist() != drawn[:, 0].tolist()
    apart = (users[user] * (items[item] - items[worse])).sum(1)
    layer_0 = (network.users[user].square() + network.items[item].square() + network.items[worse].square()).sum()
    expected = -torch.nn.functional.logsigmoid(apart).mean() + 0.1 * layer_0 / 6
    assert network.loss(batch).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("in_batch", [True, False])
def test_the_contrast_of_two_views(events, in_batch):
    first, second = (events.chance.normal(12, 4).requires_grad_(True) for _ in range(2))
    chosen = torch.tensor([3, 7, 3, 0])
    nodes = torch.unique(chosen) if in_batch else torch.arange(12)
    asked = nodes if in_batch else chosen
    cosine = torch.nn.functional.cosine_similarity(first[asked][:, None], second[nodes][None], dim=2) / 0.3
    place = torch.tensor([int((nodes == node).nonzero()) for node in asked])
    expected = torch.nn.functional.cross_entropy(cosine, place)
    found = contrast(first, second, chosen, 0.3, in_batch=in_batch)
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    for one, other in zip(gradients(found, first, second), gradients(expected, first, second), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_links_in_the_forms_of_a_gpu(events):
    values = balanced(events)
    links = Links(events).weighted(values)
    dense = torch.zeros(N_USERS, N_ITEMS)
    dense[events.user, events.item] = values
    bags = OrderedSums(events.first, events.item, torch.empty_like(values))
    bags.put(values)
    items = events.chance.normal(N_ITEMS, 3)
    assert torch.allclose(bags @ items, dense @ items, atol=1e-6)
    assert torch.allclose(links.of_items(items), dense @ items, atol=1e-6)
    links.put(2 * values)
    assert torch.allclose(links.of_items(items), 2 * dense @ items, atol=1e-6)
    assert dense_bytes(1000, 1000, 50_000) == 4_000_000
    assert dense_bytes(1000, 1000, 1000) == dense_bytes(10**6, 10**6, 10**11) == 0


def test_long_rows_of_links_are_summed_in_parts():
    rng = derived_rng(5, "links")
    n_items = 5 * AT_ONCE
    dense = (rng.random((40, n_items)) < np.linspace(0, 1, 40)[:, None]).astype(np.float32)
    events = Events(csr_array(dense), Chance(rng, "cpu"))
    values = events.chance.uniform(len(events))
    bags = OrderedSums(events.first, events.item, values)
    vectors, start = events.chance.normal(n_items, 3), events.chance.normal(40, 3)
    expected = torch.zeros(40, n_items)
    expected[events.user, events.item] = values
    assert int(events.count.max()) > 4 * AT_ONCE
    assert int(events.count.min()) == 0
    assert torch.allclose(bags @ vectors, expected @ vectors, atol=1e-3)
    assert torch.allclose(bags.plus(start, vectors), start + expected @ vectors, atol=1e-3)
    chosen = torch.tensor([39, 0, 7, 39])
    assert torch.allclose(bags.at(chosen, vectors), (expected @ vectors)[chosen], atol=1e-3)


def test_smoothing_is_the_mean_of_its_layers(events):
    links = Links(events).weighted(balanced(events))
    users, items = learned(events.chance.normal(N_USERS, 3)), learned(events.chance.normal(N_ITEMS, 3))
    layers = [(users, items)]
    for _ in range(3):
        layers.append((links.of_items(layers[-1][1]), links.of_users(layers[-1][0])))
    expected = [sum(side) / 4 for side in zip(*layers, strict=True)]
    found = links.smoothed(users, items, 3)
    weight = events.chance.normal(N_USERS, 3)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    slopes = [gradients((of[0] * weight).sum() + of[1].square().sum(), users, items) for of in (found, expected)]
    for one, other in zip(*slopes, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_some_users_items_are_summed_as_all_are(events):
    links = Links(events).weighted(balanced(events))
    items, chosen = learned(events.chance.normal(N_ITEMS, 3)), torch.tensor([4, 0, 4, N_USERS - 1])
    found, expected = links.at_users(chosen, items), links.of_items(items)[chosen]
    weight = events.chance.normal(4, 3)
    assert torch.allclose(found, expected, atol=1e-6)
    slopes = [gradients((of * weight).sum(), items)[0] for of in (found, expected)]
    assert torch.allclose(*slopes, atol=1e-6)


def test_the_penalty_of_ultragcn_is_added_by_its_optimiser(events):
    network = algorithms.get("UltraGCN")(embedding=5, negatives=N_ITEMS, reg=30.0, device="cpu").network(events)
    assert network.decay == 30.0 / len(events)
    network.loss = lambda batch: (network.users[batch].sum() + network.items.sum()) / 1000
    weights = list(network.parameters())
    copies = [learned(weight) for weight in weights]
    adam = torch.optim.Adam(copies, lr=0.01)
    users, items = copies
    penalty = network.decay / 2 * (users.square().sum() + items.square().sum())
    ((users[network.among[:4]].sum() + items.sum()) / 1000 + penalty).backward()
    adam.step()
    steps = Steps(network, rate=0.01, batch=4, device="cpu")
    steps.take(next(iter(network.passes())), network.among[:4])
    for one, other in zip(weights, copies, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_an_epoch_of_ultragcn_has_many_steps_in_small_data_too(monkeypatch):
    made = algorithms.get("UltraGCN")()
    assert [made.batch_for(n) for n in (100, 3200, 6400, 65_535, 65_536, 10**6)] == [32, 50, 100, 1023, 1024, 1024]
    assert algorithms.get("UltraGCN")(batch=20).batch_for(6400) == 20
    assert algorithms.get("UltraGCN")(fewest_steps=1).batch_for(900) == 900
    assert algorithms.get("LightGCN")(batch=512).batch_for(10) == 512
    train = example_interactions(np.repeat(np.arange(30), 6), np.tile(np.arange(20), 9), n_users=30, n_items=20)
    sizes, take = [], Steps.take
    monkeypatch.setattr(Steps, "take", lambda steps, way, batch: sizes.append(len(batch)) or take(steps, way, batch))
    algorithms.get("UltraGCN")(device="cpu", embedding=5, negatives=5).training(train, derived_rng(1)).advance(1)
    assert sizes == [32] * 5 + [20]


def test_the_loss_of_ultragcn(events):
    network = algorithms.get("UltraGCN")(
        embedding=5, negative_weight=7.0, item_weight=0.4, reg=0.0, neighbours=3, device="cpu"
    ).network(events)
    with torch.no_grad():
        for weight in network.parameters():
            weight += events.chance.normal(*weight.shape)
    held = matrix(events).double()
    users, items = (weights.detach().double() for weights in (network.users, network.items))
    by_user, by_item = held.sum(1), held.sum(0)
    beta = ((by_user + 1).sqrt() / by_user.clamp(min=1))[:, None] / (by_item + 1).sqrt()
    together = held.T @ held
    total = together.sum(1)
    omega = together * (total[:, None] / total).sqrt() / (total - by_item)[:, None]
    omega.fill_diagonal_(0)
    best = torch.where(omega >= omega.topk(3, dim=1).values[:, -1:], omega, 0.0)
    scores, logistic = users @ items.T, torch.nn.functional.logsigmoid
    batch = torch.tensor([0, 5, 11, 40])
    expected = []
    for event in batch.tolist():
        u, i = int(events.user[event]), int(events.item[event])
        wrong = (beta[u] * -logistic(-scores[u]))[held[u] == 0].mean()
        near = (best[i] * -logistic(scores[u])).sum()
        expected.append(-beta[u, i] * logistic(scores[u, i]) + 7.0 * wrong + 0.4 * near)
    assert network.loss(batch).item() == pytest.approx(float(sum(expected)) / 4, rel=1e-4)


def test_items_drawn_for_a_batch_and_who_has_them(events):
    assert torch.equal(events.some_items(N_ITEMS), torch.arange(N_ITEMS))
    drawn = events.some_items(N_ITEMS - 1)
    assert len(drawn) == N_ITEMS - 1
    users = torch.tensor([4, 0, 9])
    assert torch.equal(events.holds(users, drawn), matrix(events)[users][:, drawn] > 0)


def test_the_leading_parts_of_the_graph(events):
    left, right = leading_parts(Links(events).weighted(balanced(events)), events, 4)
    dense = torch.zeros(N_USERS, N_ITEMS)
    dense[events.user, events.item] = balanced(events)
    u, s, v = torch.linalg.svd(dense, full_matrices=False)
    assert torch.allclose(left @ right.T, (u[:, :4] * s[:4]) @ v[:4], atol=1e-3)


def test_sides_of_all_ids_or_of_those_asked_for(events):
    table = events.chance.normal(6, 2)
    for chosen in (torch.tensor([[1, 5], [0, 1]]), torch.tensor([[1, 5, 0, 2], [0, 1, 3, 3]])):
        assert torch.equal(_sides(lambda ids: table[ids], 6, chosen), table[chosen])


def test_the_ndcg_that_the_critic_learns(events):
    scores, held = events.chance.normal(8, N_ITEMS), matrix(events)[8:16]
    shown = held * (torch.arange(N_ITEMS) % 2)
    hidden = held - shown
    found = ndcg(scores, shown, hidden, 5)
    for row in range(8):
        order = torch.argsort(scores[row].masked_fill(shown[row] > 0, -torch.inf), descending=True)[:5]
        gains = hidden[row][order] / torch.log2(torch.arange(2.0, 7.0))
        best = (1 / torch.log2(torch.arange(2.0, 2.0 + min(5, int(hidden[row].sum()))))).sum()
        assert found[row].item() == pytest.approx((gains.sum() / best).item() if best > 0 else 0.0, rel=1e-5)


def test_densities_and_noise():
    z, mean, log_variance = torch.tensor([0.3]), torch.tensor([-0.2]), torch.tensor([0.7])
    expected = torch.distributions.Normal(mean, torch.exp(log_variance / 2)).log_prob(z)
    assert torch.allclose(log_density(z, mean, log_variance), expected)
    left = signal_left(DiffRec(steps=6, noise_scale=0.1))
    # Equation 4: from the second step on, the noise up to step t is s (low + (t - 1) / (T - 1) (high - low)).
    noise = 0.1 * np.linspace(5e-4, 5e-3, 6)
    assert np.allclose(left / left[0], (1 - noise) / (1 - noise[0]))


def test_lightgcl_as_the_authors_run_it(events):
    make = algorithms.get("LightGCL")
    network = make(form="code", embedding=4, layers=2, contrast=0.3, reg=0.01, temperature=0.5, device="cpu").network(
        events
    )
    dense = torch.zeros(N_USERS, N_ITEMS)
    dense[events.user, events.item] = balanced(events)
    low = network.left @ network.right.T
    user, item = network.users, network.items
    once, twice = (dense @ item, dense.T @ user), (dense @ dense.T @ user, dense.T @ dense @ item)
    users, items = user + once[0] + twice[0], item + once[1] + twice[1]
    far = user + low @ item + low @ once[1], item + low.T @ user + low.T @ once[0]
    batch, other = torch.arange(6), torch.zeros(6, dtype=torch.long)
    network.drawn = lambda _: (events.user[batch], events.item[batch], other)
    expected = -torch.nn.functional.logsigmoid(
        (users[events.user[batch]] * (items[events.item[batch]] - items[other])).sum(1)
    ).mean() + 0.01 * (user.square().sum() + item.square().sum())
    for one, whole, chosen in ((far[0], users, events.user[batch]), (far[1], items, events.item[batch])):
        alike = one[chosen] @ whole.T / 0.5
        own = alike.gather(1, chosen[:, None])[:, 0].clamp(-5, 5)
        expected = expected + 0.3 * (alike.exp().sum(1).log() - own).mean()
    assert network.loss(batch).item() == pytest.approx(expected.item(), rel=1e-4)
    with pytest.raises(UsageError, match="LightGCL has no form 'codes'; did you mean 'code'"):
        make(form="codes")


def test_the_loss_of_elsa_is_the_distance_of_unit_vectors(events):
    network = algorithms.get("ELSA")(rank=4, device="cpu").network(events)
    users = torch.tensor([4, 9, 17])
    held = matrix(events)[users].numpy()
    factors = network.factors.detach().numpy()
    factors = factors / np.linalg.norm(factors, axis=1, keepdims=True)
    answer = np.maximum(held @ factors @ factors.T - held, 0)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (answer, held)]
    expected = np.square(unit[0] - unit[1]).sum(axis=1).mean()
    assert network.loss(users).item() == pytest.approx(expected, rel=1e-4)


def test_more_users_or_items_are_never_fewer_numbers():
    neural = [kind for _, kind in algorithms if hasattr(kind, "numbers") and hasattr(kind, "network")]
    assert len(neural) > 10
    for kind in neural:
        few, many_users, many_items = (
            sum(kind().numbers(*size, 50_000)) for size in ((300, 200), (900, 200), (300, 600))
        )
        assert few <= min(many_users, many_items), kind.__name__
        assert few < max(many_users, many_items), kind.__name__
