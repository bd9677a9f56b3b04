"""Batches: a case by hand, and what holds for any pool."""

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.active.batches import BatchSizes, Reason, draw_batch, spread
from classifiers.errors import ClassifierError

POOL = [f"w{i}" for i in range(300)]


def digest(seed: object, one: str) -> str:
    return hashlib.sha256(f"{seed}{one}".encode()).hexdigest()


def values(seed: int) -> list[float]:
    draw = random.Random(seed)
    return [draw.randrange(40) / 40 for _ in POOL]  # few values: many ties


def test_the_published_mix_by_a_plain_reading_of_its_rule() -> None:
    """Anchors by hash, then the largest spreads, then uncertainties, each of what is left; ties by id."""
    spreads, uncertainties = values(1), values(2)
    batch = draw_batch(POOL, spreads, uncertainties, seed=7)
    anchors = sorted(POOL, key=lambda one: digest(7, one))[:20]
    by_spread = sorted(zip(POOL, spreads, strict=True), key=lambda pair: (-pair[1], pair[0]))
    spread_ids = [one for one, _ in by_spread if one not in anchors][:50]
    taken = {*anchors, *spread_ids}
    by_uncertainty = sorted(zip(POOL, uncertainties, strict=True), key=lambda pair: (-pair[1], pair[0]))
    expected = [*anchors, *spread_ids, *[one for one, _ in by_uncertainty if one not in taken][:30]]
    assert expected == list(batch.ids)
    reasons = [Reason.ANCHOR] * 20 + [Reason.SPREAD] * 50 + [Reason.UNCERTAIN] * 30
    assert reasons == [pick.reason for pick in batch.picks]
    assert batch.picks[0].value is None
    assert batch.short == {}


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_order_of_the_pool_does_not_matter(seed: int, shuffler: random.Random) -> None:
    order = list(range(len(POOL)))
    shuffler.shuffle(order)
    spreads, uncertainties = values(seed), values(seed + 1)
    one = draw_batch(POOL, spreads, uncertainties, seed=seed)
    other = draw_batch(
        [POOL[i] for i in order], [spreads[i] for i in order], [uncertainties[i] for i in order], seed=seed
    )
    assert one == other
    assert len(set(one.ids)) == 100


def test_anchors_do_not_depend_on_scores() -> None:
    def anchors(seed: int) -> list[str]:
        batch = draw_batch(POOL, values(seed), values(seed + 1), seed="s")
        return [pick.id for pick in batch.picks if pick.reason is Reason.ANCHOR]

    assert anchors(1) == anchors(5)


def test_a_record_without_scores_can_only_be_an_anchor() -> None:
    """All 40 records with a known spread are taken, and no other fills their place."""
    known = [0.1] * 40 + [float("nan")] * 260
    batch = draw_batch(POOL, known, [float("nan")] * 300, seed=1)
    picked = {reason: [p.id for p in batch.picks if p.reason is reason] for reason in Reason}
    scored = set(POOL[:40])
    assert set(picked[Reason.SPREAD]) == scored - set(picked[Reason.ANCHOR])
    assert picked[Reason.UNCERTAIN] == []
    assert {"spread": 50 - len(picked[Reason.SPREAD]), "uncertain": 30} == batch.short


def test_labelled_records_are_no_part_of_the_pool_and_a_small_pool_is_taken_whole() -> None:
    batch = draw_batch(POOL[:60], values(1)[:60], values(2)[:60], seed=1, already=POOL[:10])
    assert set(POOL[10:60]) == set(batch.ids)
    assert batch.sizes.total - sum(batch.short.values()) == 50


@given(st.integers(1, 2000))
def test_a_mix_scales_to_any_size(total: int) -> None:
    sizes = BatchSizes().scaled(total)
    parts = (sizes.spread, sizes.uncertain, sizes.anchors)
    assert total == sum(parts)
    assert all(abs(part - total * share) < 1 for part, share in zip(parts, (0.5, 0.3, 0.2), strict=True))


def test_spread_is_the_widest_gap_between_sides_and_unknown_where_one_is_missing() -> None:
    nan = float("nan")
    sides = [[[0.1, 0.2, nan], [0.5, 0.5, nan]], [[0.4, nan, 0.3], [0.4, 0.9, nan]]]  # two sides, two heads
    np.testing.assert_allclose(spread(sides), [0.3, 0.4, nan])


@pytest.mark.parametrize(
    ("ids", "spreads", "sizes", "message"),
    [
        (["a", "a"], [0, 0], (1, 1, 1), "'a' stands twice"),
        (["a", "b"], [0], (1, 1, 1), "one value for each of 2"),
        (["a", "b"], [0, float("inf")], (1, 1, 1), "infinite"),
        (["a", "b"], [0, 0], (0, 0, 0), "not all 0"),
        (["a", "b"], [0, 0], (-1, 2, 2), "from 0 up"),
    ],
)
def test_a_batch_that_cannot_be_drawn(
    ids: list[str], spreads: list[float], sizes: tuple[int, int, int], message: str
) -> None:
    with pytest.raises(ClassifierError, match=message):
        draw_batch(ids, spreads, [0] * len(ids), seed=0, sizes=BatchSizes(*sizes))
