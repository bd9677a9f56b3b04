"""Measures of an order of screening: published figures, cases by hand, scikit-learn for NDCG."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from classifiers.active.charts import recall_chart
from classifiers.active.discovery import Discovery
from classifiers.errors import ClassifierError

# Where `asreview simulate` 3.0.8 found the relevant records (priors by seed 42), beside the WSS@95 and the
# recall after 10 % that were published for those runs.
ORDERS = json.loads((Path(__file__).parent / "asreview_orders.json").read_text())


@pytest.mark.parametrize("name", ORDERS)
def test_asreview_orders_give_their_published_figures(name: str) -> None:
    run = ORDERS[name]
    found = Discovery(tuple(run["positions"]), len(run["positions"]), run["records"], run["records"])
    assert (run["wss_at_95"], run["recall_after_10"]) == (
        round(found.wss(0.95) or 0, 4),
        round(found.recall_after(0.1) or 0, 3),
    )


def test_a_case_by_hand() -> None:
    """Ten records, the relevant ones first and third.

    Random order finds 2 * i / 9 after record i (from 0), rounded 0 0 0 1 1 1 1 2 2 2: the first relevant
    record at 4, the second at 8. NDCG: (1 / log2(2) + 1 / log2(4)) / (1 / log2(2) + 1 / log2(3)).
    """
    found = Discovery.of([1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    assert (found.wss(0.5), found.wss(1.0)) == (0.3, 0.5)
    assert (found.recall_after(0.1), found.recall_after(0.3)) == (0.5, 1.0)
    assert found.erf(0.5) == (2 - 1) / 2
    assert found.atd() == 2.0
    assert found.ndcg() == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert found.curve() == [(0, 0), (1, 1), (3, 2), (10, 2)]


def test_what_was_not_reached_is_unknown_and_not_zero() -> None:
    """Stopped after 3 of 10 with 2 of 4 found: recall after 4, WSS@95 and the means of all can't be said."""
    found = Discovery.of([1, 0, 1], relevant=4, records=10)
    assert found.recall(3) == 0.5
    assert (found.recall(4), found.wss(0.95), found.atd(), found.ndcg()) == (None, None, None, None)
    assert found.wss(0.5) is not None
    summary = found.summary()
    assert (
        summary["atd_normalised"],
        summary["ndcg"],
        summary["found"],
        summary["relevant"],
    ) == (None, None, 2, 4)


def test_no_relevant_record_has_no_recall() -> None:
    empty = Discovery.of([0, 0, 0])
    assert (empty.recall(2), empty.wss(), empty.erf()) == (None, None, None)


@given(st.lists(st.booleans(), min_size=2, max_size=60))
def test_ndcg_agrees_with_scikit_learn(labels: list[bool]) -> None:
    found = Discovery.of(labels)
    if not any(labels):
        assert found.ndcg() is None
        return
    truth, order = np.array([labels], float), np.array([range(len(labels), 0, -1)], float)
    assert found.ndcg() == pytest.approx(ndcg_score(truth, order))


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.floats(0.01, 1))
def test_no_order_saves_more_than_the_perfect_one(labels: list[bool], level: float) -> None:
    found, best = Discovery.of(labels), Discovery.of(sorted(labels, reverse=True))
    if any(labels):
        assert (found.wss(level) or 0) <= (best.wss(level) or 0)
        assert (found.atd() or 0) >= (best.atd() or 0) == (sum(labels) + 1) / 2


@pytest.mark.parametrize(
    ("positions", "relevant", "records", "screened"),
    [((1, 1), 2, 5, 5), ((0,), 1, 5, 5), ((4,), 1, 5, 3), ((1, 2), 1, 5, 5), ((1,), 1, 5, 6)],
)
def test_positions_that_cannot_be(
    positions: tuple[int, ...], relevant: int, records: int, screened: int
) -> None:
    with pytest.raises(ClassifierError):
        Discovery(positions, relevant, records, screened)


def test_the_recall_chart_holds_every_discovery_and_both_diagonals() -> None:
    found = Discovery.of([1, 0, 1, 0])
    chart = json.loads(json.dumps(recall_chart({"certainty": found}, "Recall"), allow_nan=False))
    diagonals, arms = (layer["data"]["values"] for layer in chart["layer"])
    assert [(v["screened"], v["recall"]) for v in arms] == [(0, 0.0), (1, 0.5), (3, 1.0), (4, 1.0)]
    ends = {(v["line"], v["screened"], v["recall"]) for v in diagonals}
    assert {("perfect order", 2, 1.0), ("random order, expected", 4, 1.0)} <= ends
