"""Neural networks part by part: what an epoch trains, on which graph, with which neighbours and which chance."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.testing.answers import everyone
from recassay.testing.examples import example_interactions
from support.neural import tiny

torch = pytest.importorskip("torch")

from recassay.algorithms.neural import algorithm, lightgcl, lightgcn, nncf, training  # noqa: E402
from recassay.algorithms.neural.chance import Chance  # noqa: E402
from recassay.algorithms.neural.events import Events, held_bytes  # noqa: E402
from recassay.algorithms.neural.lightgcn import contrast  # noqa: E402
from recassay.algorithms.neural.links import Links, balanced, dense_bytes  # noqa: E402
from recassay.algorithms.neural.network import Dense, Pass, half_squares, through, tower  # noqa: E402
from recassay.algorithms.neural.nncf import neighbourhoods  # noqa: E402
from recassay.algorithms.neural.training import Steps  # noqa: E402

N_USERS, N_ITEMS = 12, 9


@pytest.fixture
def held() -> np.ndarray:
    """User 0 has nothing, user 1 everything; everybody but user 0 has item 2."""
    dense = (derived_rng(4, "networks").random((N_USERS, N_ITEMS)) < 0.4).astype(np.float32)
    dense[:, 2], dense[0], dense[1] = 1, 0, 1
    return dense


@pytest.fixture
def events(held) -> Events:
    return Events(csr_array(held), Chance(derived_rng(1), "cpu"))


def network(name, events, **parameters):
    return algorithms.get(name)(device="cpu", **parameters).network(events)


def steps_of(made, batch=4):
    return Steps(made, rate=0.2, batch=batch, device="cpu")


def test_a_step_is_recorded_after_a_few_and_replayed_for_whole_batches(events, monkeypatch):
    steps = steps_of(network("LightGCN", events, embedding=2))
    replayed, place = [], torch.zeros(4)
    graph = SimpleNamespace(replay=lambda: replayed.append(place.tolist()))
    monkeypatch.setattr(steps, "_step", lambda way, batch: "step")
    monkeypatch.setattr(steps, "_record", lambda way, batch: (graph, place, f"recorded {way.weights}"))
    one, other = (Pass(None, None, weights) for weights in ("one", "other"))
    whole, part = torch.arange(4.0), torch.arange(3.0)
    assert [steps.take(one, whole) for _ in range(5)] == ["step"] * 5, "nothing is recorded on a processor"
    steps._recordable = True
    steps._taken.clear()
    assert [steps.take(one, whole) for _ in range(4)] == ["step"] * 3 + ["recorded one"]
    assert (steps.take(one, part), steps.take(one, whole + 1)) == ("step", "recorded one")
    assert [steps.take(other, whole) for _ in range(4)] == ["step"] * 3 + ["recorded other"]
    assert replayed == [[0, 1, 2, 3], [1, 2, 3, 4], [0, 1, 2, 3]]


def test_a_gpu_is_asked_for_its_room_and_relieves_the_host(monkeypatch):
    train = example_interactions(np.array([0, 1]), np.array([0, 1]), n_users=5, n_items=6)
    made, asked = tiny("LightGCN")(), []
    monkeypatch.setattr(algorithm, "require_gpu_memory", lambda *needed: asked.append(needed))
    made.training(train, derived_rng(1))
    assert asked == [(made.gpu_memory_bytes(5, 6, 2), "cpu", "LightGCN")]
    host = made.memory_bytes(5, 6, 2)
    monkeypatch.setattr(algorithm, "settled_device", lambda *_: "cuda")
    assert host - made.memory_bytes(5, 6, 2) == made.device_bytes(5, 6, 2) > 0


def test_what_is_kept_dense_on_a_gpu():
    assert dense_bytes(1000, 1000, 5_000) == 4_000_000
    assert dense_bytes(1000, 1000, 4_999) == 0
    assert dense_bytes(16_384, 8_192, 10**8) == 512 << 20
    assert dense_bytes(16_385, 8_192, 10**8) == 0
    assert held_bytes(49_152, 32_768) == 1536 << 20
    assert held_bytes(49_153, 32_768) == 0


def test_the_divergence_of_multivae_counts_more_from_epoch_to_epoch_up_to_a_cap(events):
    made = network("MultiVAE", events, hidden=4, latent=2, anneal_epochs=4, anneal_cap=0.6)
    betas = []
    for made.epoch in range(5):
        made.passes()
        betas.append(round(made.beta.item(), 6))
    assert betas == [0, 0.25, 0.5, 0.6, 0.6]


def test_lightgcl_is_recorded_where_its_nodes_are_set_against_all(events, monkeypatch):
    for limit, recordable in ((N_USERS, True), (N_USERS - 1, False)):
        monkeypatch.setattr(lightgcl, "MOST_CONTRASTED", limit)
        assert network("LightGCL", events, embedding=2).recordable is recordable


def test_without_noise_multivae_decodes_the_mean(events):
    made = network("MultiVAE", events, hidden=4, latent=2, noise=0.0)
    users = torch.tensor([2, 5])
    profiles = events.profiles(users)
    scores, likelihood, _ = made.scored(profiles, torch.nn.functional.normalize(profiles, dim=1))
    torch.testing.assert_close(scores, made.answer(users, profiles))
    torch.testing.assert_close(likelihood, -(torch.log_softmax(scores, dim=1) * profiles).sum(1))


def test_the_three_stages_of_ract(events):
    made = network("RaCT", events, hidden=4, latent=2, actor_epochs=2, critic_epochs=1, critic_share=0.3)
    stages = []
    for made.epoch in range(5):
        stages.append([(part.weights, part.loss.__name__) for part in made.passes()])
    together = [("led actor", "led_loss"), ("critic", "critic_loss")]
    assert stages == [[("actor", "loss")]] * 2 + [[("critic", "critic_loss")]] + [together] * 2
    groups = made.groups()
    assert {name: share for name, (_, share) in groups.items()} == {"actor": 1.0, "led actor": 0.3, "critic": 1.0}
    sizes = {name: sum(weight.numel() for weight in weights) for name, (weights, _) in groups.items()}
    everything = sum(weight.numel() for weight in made.parameters())
    assert sizes["actor"] == sizes["led actor"] == everything - sizes["critic"]
    assert sizes["critic"] == 4 * 100 + 101 * 100 + 101 * 10 + 11
    rates = {name: one.param_groups[0]["lr"] for name, one in steps_of(made)._optimisers.items()}
    assert rates == {"actor": 0.2, "led actor": pytest.approx(0.06), "critic": 0.2}


def test_an_epoch_of_recvae_trains_the_encoder_against_its_last_state(events):
    made = network("RecVAE", events, hidden=4, latent=2, encoder_passes=2)
    with torch.no_grad():
        made.encoder.mean.bias += 1
    assert not torch.equal(made.last.mean.bias, made.encoder.mean.bias)
    parts = made.passes()
    assert [(part.weights, part.loss.__name__) for part in parts] == [
        ("encoder", "loss"), ("encoder", "loss"), ("decoder", "decoder_loss")
    ]  # fmt: skip
    assert torch.equal(made.last.mean.bias, made.encoder.mean.bias)
    assert not made.last.mean.bias.requires_grad
    made.decoder_loss(made.among).backward()
    assert made.encoder.mean.weight.grad is None
    assert made.decoder.weight.grad is not None


@pytest.mark.parametrize(
    ("hidden", "encoder", "decoder"),
    [(0, [(3, N_ITEMS)], [(N_ITEMS, 3)]), (5, [(5, N_ITEMS), (3, 5)], [(5, 3), (N_ITEMS, 5)])],
)
def test_the_layers_of_multidae(events, hidden, encoder, decoder):
    made = network("MultiDAE", events, hidden=hidden, latent=3)
    assert [tuple(layer.weight.shape) for layer in made.encoder] == encoder
    assert [tuple(layer.weight.shape) for layer in made.decoder] == decoder


@pytest.mark.parametrize(("order", "tables"), [(0, 3), (1, 1), (2, 2)])
def test_the_tables_of_line_and_the_events_it_learns_from(events, held, order, tables):
    made = network("LINE", events, embedding=4, order=order)
    users, items = made.embeddings()
    assert (users.shape, items.shape) == ((N_USERS, 4 * tables), (N_ITEMS, 4 * tables))
    assert set(events.user[made.among].tolist()) == set(np.flatnonzero(held.any(1)).tolist()) - {1}
    assert len(made.among) == held.sum() - N_ITEMS, "user 1 lacks no item"
    held[0, 2] = 1
    full = Events(csr_array(held), Chance(derived_rng(1), "cpu"))
    kept = network("LINE", full, embedding=4).among
    assert 2 not in full.item[kept].tolist(), "nobody lacks item 2"


def test_nodes_beyond_the_limit_are_set_against_those_of_their_batch(events, monkeypatch):
    first, second = events.chance.normal(6, 3), events.chance.normal(6, 3)
    chosen = torch.tensor([5, 1, 5])
    everything, batch = (contrast(first, second, chosen, 0.4, in_batch=way).item() for way in (False, True))
    for limit, expected in ((6, everything), (5, batch)):
        monkeypatch.setattr(lightgcn, "MOST_CONTRASTED", limit)
        assert contrast(first, second, chosen, 0.4).item() == expected
    assert everything != pytest.approx(batch, rel=0.01)


@pytest.mark.parametrize(("contrasted", "layer"), [(1, 1), (2, 2), (9, 2)])
def test_the_layers_of_xsimgcl(events, held, contrasted, layer):
    made = network("XSimGCL", events, embedding=3, layers=2, contrasted=contrasted, noise=0.3)
    graph = torch.zeros(N_USERS, N_ITEMS)
    graph[events.user, events.item] = balanced(events)
    layers = [(made.users, made.items)]
    for _ in range(2):
        layers.append((graph @ layers[-1][1], graph.T @ layers[-1][0]))
    final, chosen = made._mean_and_layer(0.0)
    for side in (0, 1):
        torch.testing.assert_close(final[side], (layers[1][side] + layers[2][side]) / 2)
        torch.testing.assert_close(chosen[side], layers[layer][side])
    torch.testing.assert_close(made.embeddings()[0], final[0])
    moved = made._blurred(layers[1][0], 0.3) - layers[1][0]
    lengths = moved.norm(dim=1)
    torch.testing.assert_close(lengths[1:], torch.full_like(lengths[1:], 0.3))
    assert (moved * layers[1][0] >= 0).all(), "noise stays in the orthant"


def test_sgl_drops_links_in_two_views_of_an_epoch(events):
    def views(drop):
        made = network("SGL", events, embedding=3, drop=drop)
        before = len(made.passes())
        assert before == 1
        graphs = [view.of_items(torch.eye(N_ITEMS)) for view in made.views]
        return made.links.of_items(torch.eye(N_ITEMS)), *graphs

    whole, first, second = views(0.0)
    assert torch.equal(first, whole)
    assert torch.equal(second, whole)
    whole, first, second = views(0.5)
    assert not torch.equal(first > 0, second > 0)
    for view in (first, second):
        assert 0.2 < (view > 0).sum() / (whole > 0).sum() < 0.8
        kept = (view > 0).float()
        expected = kept / (kept.sum(1, keepdim=True).clamp(min=1) * kept.sum(0, keepdim=True).clamp(min=1)).sqrt()
        torch.testing.assert_close(view, expected)


def test_lightgcl_leaves_links_out_of_a_step(events):
    made = network("LightGCL", events, embedding=3, dropout=0.0)
    assert made._thinned() is made.links
    made.algorithm.dropout = 0.25
    thinned, whole = (links.of_items(torch.eye(N_ITEMS)) for links in (made._thinned(), made.links))
    kept = thinned > 0
    assert 0 < kept.sum() < (whole > 0).sum()
    torch.testing.assert_close(thinned[kept], whole[kept] / 0.75)


def test_random_neighbours_are_linked_and_a_missing_one_has_a_number_of_its_own(events, held):
    near_users, near_items = neighbourhoods(events, 30, "random")
    assert (near_users.shape, near_items.shape) == ((N_ITEMS, 30), (N_USERS, 30))
    assert near_items[0].tolist() == [N_ITEMS] * 30
    for user in range(1, N_USERS):
        assert set(near_items[user].tolist()) <= set(np.flatnonzero(held[user]).tolist())
    for item in range(N_ITEMS):
        assert set(near_users[item].tolist()) <= set(np.flatnonzero(held[:, item]).tolist())
    assert len(set(near_items[1].tolist())) > 4


def test_nearest_neighbours_are_those_reached_most_by_three_steps(events, held):
    graph = held / np.sqrt(np.maximum(held.sum(1), 1))[:, None] / np.sqrt(held.sum(0))
    reached = graph @ graph.T @ graph
    near_users, near_items = neighbourhoods(events, 4, "nearest")
    assert near_items[0].tolist() == [N_ITEMS] * 4
    for found, weights in ((near_items[1:], reached[1:]), (near_users, reached.T)):
        best = -np.sort(-weights, axis=1)[:, :4]
        np.testing.assert_allclose(np.take_along_axis(weights, found.numpy(), axis=1), best, rtol=1e-4)
    more = neighbourhoods(events, N_ITEMS + 3, "nearest")[1]
    assert (more[:, N_ITEMS:] == N_ITEMS).all(), "there are no more items than these"


def test_nncf_scores_a_few_pairs_at_a_time_as_all_at_once(events, monkeypatch):
    made = network("NNCF", events, embedding=4, kernels=3, neighbour_embedding=2, neighbours=9)
    users = torch.arange(N_USERS)
    whole = made.scorer()(users)
    assert whole.shape == (N_USERS, N_ITEMS)
    monkeypatch.setattr(nncf, "PAIRS_AT_ONCE", 2 * N_ITEMS)
    torch.testing.assert_close(made.scorer()(users), whole)


def test_diffrec_remembers_the_last_ten_losses_of_each_step(events):
    made = network("DiffRec", events, hidden=4, steps=3)
    made._remember(torch.tensor([2] + [1] * 12), torch.tensor([50.0, *range(12)]))
    assert made.seen.tolist() == [0, 12, 1]
    assert sorted(made.losses[1].tolist()) == [float(loss) for loss in range(2, 12)]
    assert made.losses[2].tolist() == [50.0] + [0.0] * 9
    made._remember(torch.tensor([1]), torch.tensor([99.0]))
    assert sorted(made.losses[1].tolist()) == [*map(float, range(3, 12)), 99.0], "the oldest gave way"


def test_diffrec_draws_steps_by_their_losses_once_all_are_known(events):
    made = network("DiffRec", events, hidden=4, steps=3)
    made.losses[:] = torch.tensor([3.0, 1.0, 1.0])[:, None]
    made.seen[:] = torch.tensor([10, 10, 9])
    step, chance = made._steps(3000)
    assert chance.unique().tolist() == [1.0]
    assert step.bincount().min() > 900
    made.seen[2] = 10
    step, chance = made._steps(3000)
    shares = 0.999 * np.array([0.6, 0.2, 0.2]) + 0.001 / 3
    torch.testing.assert_close(chance, torch.tensor(3 * shares, dtype=torch.float32)[step])
    assert np.abs(step.bincount().numpy() / 3000 - shares).max() < 0.03


def test_negatives_by_popularity_are_drawn_by_their_shares_and_never_held(events, held):
    popularity = held.sum(0)
    for power in (0.0, 0.75, 1.0):
        expected = popularity**power / (popularity**power).sum()
        np.testing.assert_allclose(np.diff(events.shares(power).numpy(), prepend=0), expected, atol=1e-6)
    nothing = torch.zeros(4000, dtype=torch.long)
    drawn = events.common_negatives(nothing, 1, events.shares(1.0))[:, 0].bincount(minlength=N_ITEMS) / 4000
    np.testing.assert_allclose(drawn.numpy(), popularity / popularity.sum(), atol=0.03)
    users = torch.arange(2, N_USERS).repeat_interleave(50)
    assert not held[users.numpy()[:, None], events.common_negatives(users, 3, events.shares(1.0)).numpy()].any()


def test_dropout_keeps_the_mean_and_penalties_are_halved_per_row():
    chance = Chance(derived_rng(1), "cpu")
    ones = torch.ones(200, 50)
    assert chance.dropout(ones, 0.0) is ones
    dropped = chance.dropout(ones, 0.2)
    assert dropped.unique().tolist() == [0.0, 1.25]
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert half_squares(torch.tensor([[1.0], [2.0], [1.0]]), torch.tensor([[3.0], [0.0], [0.0]])).item() == 15 / 6


class Anywhere(str):
    """The processor, taken for a GPU."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return other in ("cpu", "cuda")


def test_profiles_that_a_gpu_keeps_are_those_that_are_made(events, held):
    users, items = torch.tensor([3, 0, 1, 3]), torch.tensor([2, 8, 0])
    profiles, whose = events.profiles(users), events.holds(users, items)
    assert events._held is None
    chance = Chance(derived_rng(1), "cpu")
    chance.device = Anywhere("cpu")
    events = Events(csr_array(held), chance)
    assert torch.equal(events._held, torch.from_numpy(held > 0))
    assert torch.equal(events.profiles(users), profiles)
    assert (events.profiles(users).dtype, profiles.tolist()) == (torch.float32, held[users.numpy()].tolist())
    assert torch.equal(events.holds(users, items), whose)
    assert whose.tolist() == (held[users.numpy()][:, items.numpy()] > 0).tolist()


def test_links_that_a_gpu_keeps_dense_and_their_gradients(events):
    links, dense = Links(events).weighted(balanced(events)), Links(events)
    dense._forth = torch.zeros(N_USERS, N_ITEMS)
    dense._back = dense._forth.T
    for values in (balanced(events), 3 * balanced(events)):
        links.put(values)
        dense.put(values)
        for make, rows in (("of_items", N_ITEMS), ("of_users", N_USERS)):
            answers, slopes = [], []
            vectors = events.chance.normal(rows, 2).requires_grad_(True)
            for form in (links, dense):
                answers.append(getattr(form, make)(vectors))
                slopes.append(torch.autograd.grad(answers[-1].square().sum(), vectors)[0])
            torch.testing.assert_close(answers[0], answers[1])
            torch.testing.assert_close(slopes[0], slopes[1])


@pytest.mark.parametrize(("n_items", "width"), [(9, 16), (8, 8), (1, 8)])
def test_the_layers_of_multivae_on_a_gpu_are_of_whole_groups_of_eight(held, n_items, width):
    events = Events(csr_array(held[:, :n_items]), Chance(derived_rng(1), "cpu"))
    events.device = Anywhere("cpu")
    made = network("MultiVAE", events, hidden=4, latent=2)
    assert (made.encoder[0].weight.shape, made.decoder[-1].weight.shape) == ((4, width), (width, 4))
    users = torch.tensor([1, 2])
    assert made.answer(users, events.profiles(users)).shape == (2, n_items)
    assert made.loss(users).isfinite()
    events.device = "cpu"
    assert network("MultiVAE", events, hidden=4, latent=2).encoder[0].weight.shape == (4, n_items)


@pytest.mark.parametrize(("kind", "fused"), [("Adam", True), ("AdamW", True), ("Adagrad", None), ("NAdam", None)])
def test_optimisers_have_their_rate_and_move_all_weights_at_once_where_they_can(kind, fused):
    weights = [torch.zeros(3, requires_grad=True)]
    made = training._optimiser(kind, weights, 0.3, False)
    assert (type(made).__name__, made.defaults["lr"], made.defaults.get("fused")) == (kind, 0.3, fused)
    assert not made.defaults.get("capturable")
    if fused:
        assert training._optimiser(kind, weights, 0.3, True).defaults["capturable"] is True


def test_the_towers_of_dmf(events, held):
    made = network("DMF", events, hidden=4, embedding=3)
    with torch.no_grad():
        for weight in made.parameters():
            weight += events.chance.normal(*weight.shape)
    for found, rows, first, last in zip(
        made.embeddings(), (held, held.T), (made.of_items, made.of_users), (made.user_top, made.item_top), strict=True
    ):
        inner = np.maximum(rows @ first.weight.detach().numpy().T + first.bias.detach().numpy(), 0)
        outer = np.maximum(inner @ last.weight.detach().numpy().T + last.bias.detach().numpy(), 0)
        length = np.linalg.norm(outer, axis=1, keepdims=True)
        np.testing.assert_allclose(found.detach().numpy(), outer / np.maximum(length, 1e-12), atol=1e-5)


def test_windows_of_neighbours_and_their_maxima(events):
    """Fourteen neighbours have ten windows of five, hence two maxima; the last vector stands for a missing one."""
    vectors, layer = events.chance.normal(7, 2), Dense(10, 3, events.chance, bias_deviation=1.0)
    near = torch.randint(0, 7, (4, 14), generator=torch.Generator().manual_seed(1))
    shown = torch.cat([vectors[:6], torch.zeros(1, 2)])[near]
    expected = []
    for row in shown:
        windows = torch.stack([layer(row[start : start + 5].T.reshape(1, -1))[0] for start in range(10)])
        expected.append(torch.relu(torch.cat([windows[:5].amax(0), windows[5:].amax(0)])))
    torch.testing.assert_close(nncf._convolved(vectors, near, layer), torch.stack(expected))


@pytest.mark.parametrize("sizes", [(3, 2), (3, 4, 2), (3, 4, 5, 2)])
def test_tanh_stands_between_layers_and_not_after_the_last(events, sizes):
    layers, x = tower(sizes, events.chance), events.chance.normal(4, 3)
    expected = x
    for place, layer in enumerate(layers):
        expected = (torch.tanh(expected) if place else expected) @ layer.weight.T + layer.bias
    torch.testing.assert_close(through(layers, x), expected)


def test_similarities_beyond_five_pull_no_more_in_either_direction():
    first, second = torch.tensor([[2.0, 0.0], [1.0, 1.0]]), torch.tensor([[3.0, 1.0], [-4.0, -3.0]])
    # The products with oneself are 6 and -7, over 0.5 they are 12 and -14: taken as 5 and -5.
    every = torch.logsumexp(first @ second.T / 0.5, dim=1)
    found = lightgcl.plain_contrast(first, second, torch.tensor([0, 1, 1]), 0.5)
    assert found.item() == pytest.approx((every[0] - 5 + 2 * (every[1] + 5)).item() / 3)
    assert lightgcl.plain_contrast(first, second, torch.tensor([0]), 4.0).item() == pytest.approx(
        (torch.logsumexp(first[:1] @ second.T / 4, dim=1) - 6 / 4).item()
    )


def test_a_user_who_lacks_none_of_the_items_drawn_has_no_wrong_ones(events):
    everything = torch.nonzero(events.user == 1).flatten()
    simplex = network("SimpleX", events, embedding=3, reg=0.0, dropout=0.0)
    users, items = simplex.embeddings()
    cosines = (users[1] * items).sum(1)
    assert simplex.loss(everything).item() == pytest.approx(1 - cosines.mean().item(), rel=1e-5)
    ultra = network("UltraGCN", events, embedding=3, reg=0.0, item_weight=0.0)
    with torch.no_grad():
        scores = ultra.users[1] @ ultra.items.T
        beta = ((N_ITEMS + 1) / (events.item.bincount() + 1)).sqrt() / N_ITEMS
    expected = (beta * torch.nn.functional.softplus(-scores)).mean().item()
    assert ultra.loss(everything).item() == pytest.approx(expected, rel=1e-5)


def test_items_with_fewer_neighbours_than_are_wanted(held):
    held[:, 7:] = 0
    held[3, 7] = held[1, 8] = 1
    held[3, :7] = 0
    events = Events(csr_array(held), Chance(derived_rng(1), "cpu"))
    made = network("UltraGCN", events, embedding=3, neighbours=20)
    assert made.near.shape == (N_ITEMS, N_ITEMS)
    assert not made.near_weight[7].any(), "item 7 has one user, who has no other item"
    assert (made.near_weight > 0).sum(1).tolist()[8] == 7, "user 1 has all items but item 7"
    assert made.loss(torch.arange(len(events))).isfinite()


@pytest.mark.parametrize("name", ["LightGCN", "MultiVAE", "LINE"])
def test_nothing_to_learn_from_is_no_error(name):
    nothing = np.empty(0, dtype=np.int32)
    train = example_interactions(nothing, nothing, n_users=3, n_items=5)
    model = tiny(name)().fit(train, rng=derived_rng(1))
    top = model.recommend(everyone(train), 4, exclude=None)
    assert model.iterations == 2
    assert np.isfinite(top.scores).all()
    assert (top.items >= 0).all()
