"""The random numbers of `neural.chance` on a GPU: all steps of the generator in one kernel in Triton."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024

# Triton reads constants of a module only where they are marked.
STEP = tl.constexpr(0x9E3779B97F4A7C15)
FIRST_FACTOR = tl.constexpr(0xBF58476D1CE4E5B9)
SECOND_FACTOR = tl.constexpr(0x94D049BB133111EB)


@triton.jit
def _mixed(counter, key):
    x = counter.to(tl.uint64) * STEP + key.to(tl.uint64)
    x = (x ^ (x >> 30)) * FIRST_FACTOR
    x = (x ^ (x >> 27)) * SECOND_FACTOR
    return x ^ (x >> 31)


@triton.jit
def _even(number, drawn, key):
    """Of each 64 bits the lower half first; its upper 24 bits are the digits."""
    bits = _mixed((number >> 1) + drawn, key) >> (32 * (number & 1)).to(tl.uint64)
    return ((bits & 0xFFFFFFFF) >> 8).to(tl.float32) * (1.0 / 16777216)


@triton.jit(do_not_specialize=["key"])
def _fill(drawn, key, answer, n, block: tl.constexpr):
    number = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    bits = _mixed(number + tl.load(drawn), key)
    tl.store(answer + number, bits.to(tl.int64, bitcast=True), mask=number < n)


@triton.jit(do_not_specialize=["key"])
def _fill_even(drawn, key, answer, n, block: tl.constexpr):
    number = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    tl.store(answer + number, _even(number, tl.load(drawn), key), mask=number < n)


@triton.jit(do_not_specialize=["key"])
def _blur(drawn, key, vectors, answer, length, size, width: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    feature = tl.arange(0, width)
    inside = feature < size
    place = row * size + feature
    direction = tl.where(inside, _even(place, tl.load(drawn), key), 0.0)
    direction = direction / tl.maximum(tl.sqrt(tl.sum(direction * direction)), 1e-12)
    vector = tl.load(vectors + place, mask=inside, other=0.0)
    sign = tl.where(vector > 0, 1.0, tl.where(vector < 0, -1.0, 0.0))
    tl.store(answer + place, vector + sign * direction * length, mask=inside)


def random_bits(drawn: Any, key: int, n: int) -> Any:
    """n whole numbers of 64 random bits, those after the first `drawn`."""
    answer = torch.empty(n, dtype=torch.int64, device=drawn.device)
    _run(_fill, drawn, key, answer)
    return answer


def even_numbers(drawn: Any, key: int, n: int) -> Any:
    """n even numbers from 0 to 1, two from each whole number."""
    answer = torch.empty(n, dtype=torch.float32, device=drawn.device)
    _run(_fill_even, drawn, key, answer)
    return answer


def blurred(vectors: Any, length: float, drawn: Any, key: int) -> Any:
    """`vectors` (n x d), each moved by `length` in a random direction of its orthant."""
    vectors = vectors.contiguous()
    answer = torch.empty_like(vectors)
    n, size = vectors.shape
    if n:
        width = max(16, triton.next_power_of_2(size))
        _blur[(n,)](drawn, key, vectors, answer, float(length), size, width=width, num_warps=1)
    return answer


def _run(kernel: Any, drawn: Any, key: int, answer: Any) -> None:
    if len(answer):
        kernel[(triton.cdiv(len(answer), BLOCK),)](drawn, key, answer, len(answer), block=BLOCK)
