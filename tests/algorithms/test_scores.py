"""Scores, losses and memory of every algorithm on small data: what studies published with them rests on.

A number here changes only with the definition of an algorithm; its results are then others, and the changelog says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import in_words
from recassay.core.types import Interactions
from recassay.testing.examples import example_interactions

N_USERS, N_ITEMS = 40, 25

SMALL: dict[str, dict[str, Any]] = {
    "ALS": {"factors": 6, "alpha": 8.0, "reg": 2.0, "iterations": 3},
    "BPR": {"factors": 6, "hardest_of": 3, "iterations": 4},
    "WARP": {"components": 6, "rate": 0.1, "epochs": 4},
    "RatingMF": {"factors": 6, "rate": 0.05, "iterations": 4},
    "NMF": {"factors": 6, "reg": 0.5, "iterations": 4},
    "PLSA": {"classes": 4, "iterations": 4},
    "AspectModel": {"classes": 4, "iterations": 4},
    "ItemKNN": {"k": 8, "device": "cpu"},
    "UserKNN": {"k": 8, "device": "cpu"},
    "RP3beta": {"k": 8},
    "EASE": {"reg": 5.0, "device": "cpu"},
    "LocalEASE": {"neighbours": 8, "reg": 5.0},
    "SLIM": {"strength": 3.0},
    "GF-CF": {"factors": 5, "device": "cpu"},
    "Turbo-CF": {"alpha": 0.4, "power": 0.8, "order": 2, "device": "cpu"},
    "NCE-PLRec": {"factors": 5, "reg": 2.0},
    "PureSVD": {"factors": 5},
    "MostPop": {},
    "RecentPop": {"kind": "decay", "window": 0.3},
    "Random": {},
    "LastItems": {},
    "MarkovChain": {},
    "SequentialRules": {"steps": 3},
    "AssociationRules": {"last": 2},
    "V-SKNN": {"k": 5, "sample": 20},
    "STAN": {"k": 5, "sample": 20},
}
"""Parameters that keep an algorithm small."""

NEURAL: dict[str, dict[str, Any]] = {
    "MultiVAE": {"hidden": 12, "latent": 6, "anneal_epochs": 2},
    "MultiDAE": {"hidden": 8, "latent": 6, "reg": 0.5},
    "RecVAE": {"hidden": 12, "latent": 6},
    "RaCT": {"hidden": 12, "latent": 6, "anneal_epochs": 2, "actor_epochs": 1, "critic_epochs": 1, "epochs": 4},
    "CDAE": {"latent": 6, "reg": 0.01, "negatives": 1.0},
    "DiffRec": {"hidden": 12, "steps": 3, "noise_scale": 10.0},
    "ELSA": {"rank": 6},
    "LightGCN": {"embedding": 6, "layers": 2, "reg": 0.1},
    "SGL": {"embedding": 6, "layers": 2, "contrast": 0.5, "reg": 0.1},
    "LightGCL": {"embedding": 6, "contrast": 0.3, "dropout": 0.1, "reg": 0.01},
    "XSimGCL": {"embedding": 6, "contrast": 0.3, "reg": 0.1},
    "DMF": {"embedding": 6, "hidden": 8, "negatives": 3},
    "NNCF": {"embedding": 6, "kernels": 6, "neighbour_embedding": 4, "neighbours": 10, "negatives": 2, "dropout": 0.1},
    "ENMF": {"embedding": 6, "negative_weight": 0.2},
    "LINE": {"embedding": 6, "noise_power": 0.75, "negatives": 2},
    "SimpleX": {"embedding": 6, "negatives": 15, "reg": 0.1},
    "UltraGCN": {"embedding": 6, "negatives": 15, "neighbours": 3, "reg": 0.5, "fewest_steps": 1},
    "SASRec": {"embedding": 8, "length": 10},
    "eSASRec": {"embedding": 8, "length": 10, "negatives": 12},
    "BERT4Rec": {"embedding": 8, "length": 10},
    "GRU4Rec": {"embedding": 8, "length": 10, "negatives": 12},
}


NUMBERS: dict[str, list[float]] = {
    "ALS": [0.063304, 0.49333, 0.2888],
    "BPR": [-0.065328, -0.025463, 0.038378],
    "WARP": [-0.64092, -0.53519, 0.65052],
    "RatingMF": [3.0633, 2.0857, 3.0085],
    "NMF": [0.14907, 0.27539, 0.27618],
    "PLSA": [0.025995, 0.03408, 0.04],
    "AspectModel": [0.00050479, 0.0015167, 0.0019986],
    "ItemKNN": [0.12038, 0.93027, 0.46696],
    "UserKNN": [0.44721, 2.3632, 1.4695],
    "RP3beta": [0.0, 0.63685, 0.34673],
    "EASE": [0.037103, 0.35441, 0.25495],
    "LocalEASE": [0.027051, 0.44149, 0.24085],
    "SLIM": [0.029649, 0.41184, 0.25436],
    "GF-CF": [0.13781, 0.53562, 0.34835],
    "Turbo-CF": [-0.046592, 0.14853, 0.18062],
    "NCE-PLRec": [0.05204, 0.44218, 0.30406],
    "PureSVD": [-0.024961, 0.44408, 0.31158],
    "MostPop": [7.0, 9.0, 10.64],
    "RecentPop": [3.0134, 3.6857, 4.1546],
    "Random": [0.42688, 0.89674, 0.48953],
    "MultiVAE": [21.482, -0.058996, -0.10791, 0.094136],
    "MultiDAE": [21.406, -0.088211, -0.22253, 0.15182],
    "RecVAE": [26.296, -0.42469, 0.40757, 0.3329],
    "RaCT": [21.787, 0.053752, -0.083837, 0.1008],
    "CDAE": [8.0458, -0.30146, 0.096338, 0.25155],
    "DiffRec": [10125.0, 0.4036, 0.19233, 0.39282],
    "ELSA": [1.5269, 0.57666, 1.34, 1.0601],
    "LightGCN": [0.75607, -0.0046299, 0.0008094, 0.0046515],
    "SGL": [2.9369, -0.021639, 0.0085013, 0.016122],
    "LightGCL": [4.7768, -0.93144, 0.41581, 1.3407],
    "XSimGCL": [1.3312, -0.012829, -0.0058326, 0.0096742],
    "DMF": [9.3626, 0.19769, 0.3029, 0.28924],
    "NNCF": [0.69318, -0.63999, -0.66081, 0.62034],
    "ENMF": [-3.0586e-06, -0.0001712, 5.7036e-06, 0.00017405],
    "LINE": [12.484, -0.12257, 0.10785, 0.12184],
    "SimpleX": [1.6076, -0.57447, 0.013625, 0.32012],
    "UltraGCN": [25.184, -0.24635, -0.072685, 0.1117],
    "LastItems": [0, 0, 0.096918],
    "MarkovChain": [0, 0, 0.159],
    "SequentialRules": [0, 0.063142, 0.203],
    "AssociationRules": [3.3536, 6.4142, 4.2434],
    "V-SKNN": [0, 8.1667, 3.3862],
    "STAN": [0, 0.20005, 0.23963],
    "SASRec": [3.6213, -0.61631, 0.033528, 0.72312],
    "eSASRec": [2.9203, -0.2563, -0.34705, 0.82915],
    "BERT4Rec": [3.4852, 0.54579, 0.95119, 0.74779],
    "GRU4Rec": [3.0808, 0.038045, 0.049334, 0.36652],
}
"""See `numbers_of`."""

MEMORY: dict[str, list[int]] = {
    "ALS": [11_372_032, 148_156_000, 441_580_032, 5_422_923_584],
    "BPR": [2_508_000, 225_960_000],
    "WARP": [2_778_000, 262_860_000],
    "RatingMF": [1_958_000, 141_060_000],
    "NMF": [3_558_912, 329_574_912],
    "PLSA": [2_496_000, 224_320_000],
    "AspectModel": [1_920_000, 145_600_000],
    "ItemKNN": [7_504_000, 2_502_480_000],
    "UserKNN": [4_104_000, 114_480_000],
    "RP3beta": [8_044_000, 2_472_080_000],
    "EASE": [4_008_000, 15_776_000, 320_283_280_000, 483_228_040_000],
    "LocalEASE": [6_612_000, 1_784_800_000],
    "SLIM": [5_412_000, 1_803_200_000],
    "GF-CF": [8_416_000, 16_776_000, 321_104_080_000, 643_228_040_000],
    "Turbo-CF": [3_328_000, 16_776_000, 160_288_080_000, 643_228_040_000],
    "NCE-PLRec": [9_200_000, 850_080_000],
    "PureSVD": [1_286_000, 53_340_000],
    "MostPop": [828_000, 20_040_000],
    "RecentPop": [660_000, 17_600_000],
    "Random": [6_272_000, 1_348_120_000],
    "MultiVAE": [359_818_800, 144_011_472, 12_148_252_800, 20_657_097_472],
    "MultiDAE": [329_178_800, 107_371_472, 5_254_812_800, 11_363_657_472],
    "RecVAE": [459_418_800, 239_611_472, 11_769_052_800, 18_677_897_472],
    "RaCT": [348_980_400, 127_173_072, 9_743_414_400, 15_852_259_072],
    "CDAE": [328_330_800, 104_107_472, 3_499_932_800, 8_642_377_472],
    "DiffRec": [332_462_800, 111_055_472, 6_534_896_800, 12_803_741_472],
    "ELSA": [333_148_800, 117_341_472, 6_958_012_800, 15_582_057_472],
    "LightGCN": [358_447_232, 170_834_336, 1_565_801_600, 5_863_875_072],
    "SGL": [422_993_536, 301_238_944, 9_604_561_536, 21_574_034_944],
    "LightGCL": [517_073_536, 490_086_944, 22_462_161_536, 47_656_594_944],
    "XSimGCL": [789_813_632, 1_030_879_136, 3_500_277_632, 9_365_467_136],
    "DMF": [394_636_416, 232_396_192, 2_989_708_416, 7_606_856_192],
    "NNCF": [1_641_508_224, 2_737_612_320, 3_702_410_624, 9_953_413_120],
    "ENMF": [389_756_800, 223_389_472, 2_833_627_520, 7_297_446_912],
    "LINE": [512_266_112, 454_968_096, 4_094_922_112, 7_983_236_096],
    "SimpleX": [368_028_800, 181_933_472, 2_995_868_800, 7_621_929_472],
    "UltraGCN": [345_349_120, 142_638_112, 1_170_549_120, 5_073_370_112],
    "LastItems": [2_482_000, 117_760_000],
    "MarkovChain": [2_264_000, 110_320_000],
    "SequentialRules": [6_472_000, 167_360_000],
    "AssociationRules": [6_864_000, 6_596_320_000],
    "V-SKNN": [18_094_400, 5_048_678_400],
    "STAN": [24_648_000, 5_055_232_000],
    "SASRec": [1_303_523_968, 2_056_247_840, 2_259_107_968, 7_254_915_840],
    "eSASRec": [889_431_680, 1_230_149_152, 1_538_583_680, 5_815_953_152],
    "BERT4Rec": [2_296_976_256, 4_029_463_328, 3_610_064_256, 9_585_635_328],
    "GRU4Rec": [852_892_544, 2_516_126_496, 2_931_072_384, 8_174_442_496],
}
"""See `memory_of`."""


def few_events() -> Interactions:
    """Tastes of two groups; user 0 has nothing, user 1 everything."""
    rng = derived_rng(11, "few events")
    alike = np.equal.outer(np.arange(N_USERS) % 2, np.arange(N_ITEMS) % 2)
    held = rng.random((N_USERS, N_ITEMS)) < np.where(alike, 0.4, 0.1)
    held[0], held[1] = False, True
    return example_interactions(*np.nonzero(held), n_users=N_USERS, n_items=N_ITEMS)


def scores_of(recommender: Any) -> np.ndarray:
    """Users x items."""
    top = recommender.recommend(np.arange(N_USERS, dtype=np.int32), N_ITEMS, exclude=None)
    scores = np.full((N_USERS, N_ITEMS), -np.inf)
    np.put_along_axis(scores, top.items.astype(np.int64), top.scores, axis=1)
    return scores


def numbers_of(name: str) -> list[float]:
    """Of the fitted model: two scores, and the mean size of all; of a neural one the loss of a first batch, too."""
    rng = derived_rng(5, "fit")
    if name in SMALL:
        scores, loss = scores_of(algorithms.get(name)(**SMALL[name]).fit(few_events(), rng=rng)), []
    else:
        made = algorithms.get(name)(**{"epochs": 3, "batch": 64, "rate": 0.02, "device": "cpu", **NEURAL[name]})
        training = made.training(few_events(), rng)
        loss = [training.network.loss(training.network.among[:16]).item()]
        training.advance(made.epochs)
        scores = scores_of(training.model())
    return [*loss, float(scores[3, 0]), float(scores[17, 7]), float(np.abs(scores).mean())]


def memory_of(name: str) -> list[int]:
    """Bytes at the defaults on a small and on a large dataset: of the host, and of a GPU."""
    kind = algorithms.get(name)
    made = kind(device="cpu") if "device" in getattr(kind, "limits", {}) else kind()
    methods = [getattr(made, method) for method in ("memory_bytes", "gpu_memory_bytes") if hasattr(made, method)]
    return [method(*sizes) for sizes in ((1_000, 500, 20_000), (5_000, 200_000, 300_000)) for method in methods]


def parameters_of(name: str) -> Iterator[str]:
    """Each parameter with its default, what tuning may choose, and what it can be at all; and how training stops."""
    kind = algorithms.get(name)
    for field in fields(kind) if is_dataclass(kind) else ():
        tuned = f", {in_words(kind.space[field.name])}" if field.name in kind.space else ""
        limits = kind.limits.get(field.name)
        stated = {word: getattr(limits, word, None) for word in ("above", "least", "most", "among")}
        bounds = "".join(f"; {word} {bound}" for word, bound in stated.items() if bound is not None)
        yield f"{name} {field.name} {field.default}{tuned}{bounds}"
    if hasattr(kind, "stopped_by"):
        yield f"{name} is stopped by {kind.stopped_by} at one of {kind.most_stages} stages"


def test_every_algorithm_is_here():
    ours = {name for name in algorithms.names() if algorithms.get(name).__module__.startswith("recassay.")}
    assert ours == SMALL.keys() | NEURAL.keys() == NUMBERS.keys() == MEMORY.keys()


@pytest.mark.parametrize("name", NUMBERS)
def test_scores_and_losses(name):
    if name in NEURAL:
        pytest.importorskip("torch")
    expected, found = NUMBERS[name], numbers_of(name)
    assert found[-3:] == pytest.approx(expected[-3:], rel=1e-3, abs=1e-3 * expected[-1])
    assert found[:-3] == pytest.approx(expected[:-3], rel=2e-4)


@pytest.mark.parametrize("name", MEMORY)
def test_memory(name):
    assert memory_of(name) == MEMORY[name]


@pytest.mark.parametrize(
    ("name", "parameter", "sizes"),
    [
        ("ItemKNN", "k", (1_000, 300, 4_000)), ("UserKNN", "k", (300, 1_000, 4_000)),
        ("RP3beta", "k", (1_000, 300, 4_000)), ("LocalEASE", "neighbours", (1_000, 300, 4_000)),
        ("GF-CF", "factors", (1_000, 300, 4_000)), ("NCE-PLRec", "factors", (1_000, 300, 4_000)),
        ("SimpleX", "negatives", (1_000, 300, 4_000)), ("UltraGCN", "negatives", (1_000, 300, 4_000)),
        *((name, "batch", (300, 80, 300)) for name in NEURAL),
    ],
)  # fmt: skip
def test_more_than_there_is_takes_no_memory(name, parameter, sizes):
    kind = algorithms.get(name)
    settings = {"device": "cpu"} if "device" in getattr(kind, "limits", {}) else {}
    less, all_, more = (kind(**settings, **{parameter: n}).memory_bytes(*sizes) for n in (60, 300, 350))
    assert less < all_ == more


def test_memory_follows_the_order_of_a_filter_and_the_layers_of_an_autoencoder():
    first, second, third = (
        algorithms.get("Turbo-CF")(order=order, device="cpu").memory_bytes(1_000, 500, 20_000) for order in (1, 2, 3)
    )
    assert second - first == third - second == 2 * 4 * 500**2
    batch = 6 * 500 * 200
    for hidden, learned in ((0, (2 * 30 + 1) * 200), (70, (2 * 70 + 1) * 200 + 2 * 70 * 30)):
        made = algorithms.get("MultiDAE")(hidden=hidden, latent=30, batch=500)
        assert made.numbers(1_000, 200, 9_000) == (learned, batch)


def test_a_processor_needs_no_memory_for_the_scores_of_empty_places():
    kind = algorithms.get("GRU4Rec")
    clicks, films = (21_210, 2_932, 50_665), (943, 1_678, 95_867)
    # Resident bytes at the peak of a fit, less those before it, on the Yoochoose sample and on MovieLens 100k.
    assert 428e6 < kind(device="cpu").memory_bytes(*clicks) < 2 * 428e6
    assert 555e6 < kind(device="cpu", batch=32).memory_bytes(*films) < 2 * 555e6


def test_parameters():
    expected = Path(__file__).with_name("parameters.txt").read_text("utf-8").splitlines()
    assert [line for name in algorithms.names() if name in MEMORY for line in parameters_of(name)] == expected
