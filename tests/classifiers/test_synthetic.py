"""The synthetic study: what it promises of itself, within what chance allows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from classifiers.errors import ClassifierError
from classifiers.synthetic import CANNOT, RATERS, TOPICS, SyntheticRecord, answers, records, study
from schema.ballots import judge

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def many() -> tuple[SyntheticRecord, ...]:
    return records(7, 3000)


def within(found: int, n: int, share: float) -> bool:
    """Within four standard errors of a binomial share."""
    return abs(found - n * share) <= 4 * (n * share * (1 - share)) ** 0.5


def test_longer_studies_begin_with_shorter_ones(many: tuple[SyntheticRecord, ...]) -> None:
    assert records(7, 20) == many[:20]
    assert records(8, 20) != many[:20]


def test_same_seed_same_bytes_in_another_process(many: tuple[SyntheticRecord, ...]) -> None:
    code = "from classifiers.synthetic import *; print(records(7, 5)[4].work.model_dump_json())"
    made = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert made[0] == made[1] == many[4].work.model_dump_json() + "\n"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda t: t.id)
def test_outcomes_follow_their_probabilities(topic, many: tuple[SyntheticRecord, ...]) -> None:
    """The truth is drawn with each record's own probability, so the sums agree up to binomial noise."""
    p = [r.probability[topic.id] for r in many]
    positive = sum(r.truth[topic.id] for r in many)
    assert abs(positive - sum(p)) <= 4 * sum(q * (1 - q) for q in p) ** 0.5
    assert sum(p) / len(p) == pytest.approx(topic.share, rel=0.25)


@pytest.mark.parametrize("rater", RATERS, ids=lambda r: r.id)
def test_raters_err_as_they_say(rater, many: tuple[SyntheticRecord, ...]) -> None:
    judged = [(r, answers(7, rater, r)) for r in many]
    judged = [(r, a["categories"]) for r, a in judged if a["decision"] != "insufficient_payload"]
    pairs = [(r.truth[t.id], t.id in named) for r, named in judged for t in TOPICS]
    true, false = (
        [called for truth, called in pairs if truth],
        [called for truth, called in pairs if not truth],
    )
    assert within(sum(true), len(true), rater.sensitivity)
    assert within(sum(false), len(false), 1 - rater.specificity)


def test_what_cant_be_judged_is_only_among_records_without_abstract(
    many: tuple[SyntheticRecord, ...],
) -> None:
    without = [r for r in many if r.work.abstract.text is None]
    assert within(len(without), len(many), 0.1)
    unknown = [r for r in many if answers(7, RATERS[0], r)["decision"] == "insufficient_payload"]
    assert {r.work.id for r in unknown} <= {r.work.id for r in without}
    assert within(len(unknown), len(without), 1 / 3)


def test_every_answer_can_be_taken_and_everything_says_that_it_is_synthetic(
    many: tuple[SyntheticRecord, ...],
) -> None:
    made = study(7, french=10, other=40)
    some = many[:200]
    ids = [r.work.id or "" for r in some]
    for rater in RATERS:
        assert judge(made.rubric, ids, [answers(7, rater, r) for r in some]).problems == ()
    assert made.synthetic
    assert made.rubric.cannot == CANNOT
    assert {r.kind for r in made.raters} == {"model"}  # a rule is never passed off as a person
    assert all("synthetic" in r.work.title for r in some)
    assert json.loads(made.model_dump_json())["caveats"]


def test_words_tell_of_topics(many: tuple[SyntheticRecord, ...]) -> None:
    """A text says more of a topic where it's true: else nothing could be learned."""
    topic = TOPICS[0]
    rate = {
        truth: [sum(w in topic.words for w in f"{r.work.title} {r.work.abstract.text}".lower().split())
                for r in many if r.truth[topic.id] is truth]
        for truth in (True, False)
    }  # fmt: skip
    assert sum(rate[True]) / len(rate[True]) > 2 * sum(rate[False]) / len(rate[False])


def test_no_records_are_refused() -> None:
    with pytest.raises(ClassifierError, match="expected at least 1"):
        records(1, 0)
