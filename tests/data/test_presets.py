"""Every preset has the character that its name says, and something to learn where it should."""

import functools

import numpy as np
import pytest

from recassay.core.errors import UsageError
from recassay.data.characteristics import describe
from recassay.data.synthetic.generate import generate
from recassay.data.synthetic.presets import PRESETS, SUMMARIES, preset_spec

LEARNABLE = sorted(set(PRESETS) - {"near-random"})


@functools.cache
def preset(name):
    return generate(preset_spec(name))


@functools.cache
def characteristics(name):
    return describe(preset(name).interactions)


def ndcg(scores, train, test, k=10):
    """Mean over users of DCG@k / ideal DCG@k with binary relevance, training items excluded."""
    penalty = np.where(train > 0, np.inf, -scores)
    top = np.argpartition(penalty, k, axis=1)[:, :k]
    top = np.take_along_axis(top, np.argsort(np.take_along_axis(penalty, top, axis=1), axis=1), axis=1)
    gain = np.take_along_axis(test, top, axis=1)
    discount = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.cumsum(discount)[np.minimum(test.sum(axis=1).astype(int), k) - 1]
    return float((gain @ discount / ideal).mean())


def item_neighbours(train, neighbours=100):
    """Cosine similarity of items, the nearest `neighbours` of each kept."""
    normal = train / np.sqrt(np.maximum(train.sum(axis=0), 1))
    similarity = (normal.T @ normal).toarray()
    np.fill_diagonal(similarity, 0)
    if similarity.shape[0] > neighbours:
        least = np.partition(similarity, -neighbours, axis=1)[:, [-neighbours]]
        similarity = np.where(similarity >= least, similarity, 0)
    return similarity.T


@functools.cache
def quality(name):
    """nDCG@10 under a global temporal split 80/20: oracle, item kNN, popularity and chance."""
    data = preset(name)
    rows, threshold = data.interactions, 3.5 if data.interactions.weight is not None else None
    if threshold is not None:
        rows = rows.take(rows.weight >= threshold)
    early = rows.time <= np.quantile(rows.time, 0.8)
    train, late = rows.take(early).csr(), rows.take(~early)
    popularity = train.sum(axis=0)
    test = late.take(popularity[late.item] > 0).csr()
    users = np.flatnonzero((train.sum(axis=1) >= 5) & (test.sum(axis=1) > 0)).astype(np.int32)[:1_000]
    neighbours = train[users] @ item_neighbours(train)
    train, test = train[users].toarray(), test[users].toarray()
    scores = {
        "oracle": data.truth.affinity(users, at=0.9, positive_threshold=threshold),
        "neighbours": neighbours,
        "popularity": np.broadcast_to(popularity, train.shape),
        "chance": np.random.default_rng(0).random(train.shape),
    }
    return {"users": len(users)} | {label: ndcg(block, train, test) for label, block in scores.items()}


def early_late_correlation(data):
    """Of the items' counts in the first 80 % of the interactions with those in the last 10 %."""
    rows = data.interactions
    early = np.bincount(rows.item[: int(0.8 * len(rows))], minlength=rows.n_items)
    late = np.bincount(rows.item[int(0.9 * len(rows)) :], minlength=rows.n_items)
    return np.corrcoef(early, late)[0, 1]


def extreme(field, *, highest=True):
    values = {name: characteristics(name)[field] for name in PRESETS}
    return (max if highest else min)(values, key=values.get)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNABLE)
def test_there_is_something_to_learn(name):
    found = quality(name)
    assert found["users"] >= 250
    assert found["popularity"] > 1.7 * found["chance"]
    assert found["neighbours"] > 1.12 * found["popularity"]
    assert found["oracle"] > 1.3 * found["popularity"]
    assert found["oracle"] > found["neighbours"]


def test_near_random_has_next_to_nothing_to_learn():
    found = quality("near-random")
    assert found["oracle"] < 1.3 * found["popularity"]
    assert found["neighbours"] < 1.1 * found["popularity"]
    assert found["oracle"] < 0.06


def test_dense_small_is_the_densest_and_sparse_large_the_sparsest():
    assert extreme("Density") == "dense-small"
    assert extreme("Nu", highest=False) == "dense-small"
    assert extreme("Density", highest=False) == "sparse-large"
    assert extreme("SpaceSize") == "sparse-large"


def test_few_items_has_the_fewest_items_for_its_users():
    assert extreme("Ni", highest=False) == "few-items"
    assert extreme("Shape") == "few-items"


def test_long_tail_and_heavy_users_are_the_most_unequal():
    assert extreme("Ginii") == "long-tail"
    assert extreme("Giniu") == "heavy-users"


def test_drifting_forgets_its_past():
    still = {"popularity_drift": 0.0, "taste_drift": 0.0, "new_items": 0.0}
    assert early_late_correlation(preset("drifting")) < 0.45
    assert early_late_correlation(generate(PRESETS["drifting"].model_copy(update=still))) > 0.7


def test_cold_catalogue_ends_with_items_that_training_never_saw():
    def late_share_of_unknown(name):
        rows = preset(name).interactions
        known = np.bincount(rows.item[: int(0.8 * len(rows))], minlength=rows.n_items)
        return np.mean(known[rows.item[int(0.8 * len(rows)) :]] == 0)

    assert late_share_of_unknown("cold-catalogue") == max(late_share_of_unknown(name) for name in PRESETS)
    assert late_share_of_unknown("cold-catalogue") > 0.08


@pytest.mark.slow
def test_niche_tastes_reward_personalisation_most_and_blockbuster_least():
    lift = {name: quality(name)["neighbours"] / quality(name)["popularity"] for name in LEARNABLE}
    assert max(lift, key=lift.get) == "niche-tastes"
    assert min(lift, key=lift.get) == "blockbuster"


def test_only_ratings_explicit_has_ratings():
    assert [name for name in PRESETS if preset(name).interactions.weight is not None] == ["ratings-explicit"]
    positive = (preset("ratings-explicit").interactions.weight >= 3.5).mean()
    assert 0.3 < positive < 0.8


def test_presets_suit_a_demonstration():
    assert len(PRESETS) >= 8
    assert set(SUMMARIES) == set(PRESETS)
    for name, spec in PRESETS.items():
        assert 5_000 <= spec.n_interactions <= 60_000, name
        assert characteristics(name)["Nr"] == spec.n_interactions
    seeds = [spec.seed for spec in PRESETS.values()]
    assert len(set(seeds)) == len(seeds)


def test_scale_grows_a_preset_and_the_seed_varies_it():
    spec, base = preset_spec("sparse-large", seed=3, scale=100), PRESETS["sparse-large"]
    assert (spec.n_users, spec.n_items) == (100 * base.n_users, 10 * base.n_items)
    assert spec.n_interactions == 4_000_000
    assert spec.seed == base.seed + 3
    other = generate(preset_spec("dense-small", seed=1)).interactions
    assert not np.array_equal(other.item, preset("dense-small").interactions.item)
    again = generate(preset_spec("dense-small")).interactions
    assert np.array_equal(again.item, preset("dense-small").interactions.item)


def test_wrong_names_and_scales_are_told():
    with pytest.raises(UsageError, match="did you mean 'dense-small'"):
        preset_spec("dense_smal")
    with pytest.raises(UsageError, match="give a number from 1 to 10,000"):
        preset_spec("dense-small", scale=0.5)
    for wrong in (0.999, 10_001, float("nan")):
        with pytest.raises(UsageError, match="preset dense-small: scale is"):
            preset_spec("dense-small", scale=wrong)
    assert preset_spec("dense-small", scale=1) == PRESETS["dense-small"]
    assert preset_spec("dense-small", scale=10_000).n_users == 10_000 * PRESETS["dense-small"].n_users
