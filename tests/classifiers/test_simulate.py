"""Simulated screening: against a loop that fits from scratch, and what no order of input may change."""

import json
import random
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from classifiers.active.analysis import simulation
from classifiers.active.batches import by_hash
from classifiers.active.learners import BALANCE, BIAS, RELEVANT_WEIGHT
from classifiers.active.pool import LabelledPool, draw_priors
from classifiers.active.simulate import Ended, Strategy, simulate
from classifiers.errors import ClassifierError
from classifiers.features import Document

TOPIC, OTHER = [f"topic{i}" for i in range(12)], [f"other{i}" for i in range(60)]


def example(n: int = 80, seed: int = 0) -> tuple[list[Document], list[bool]]:
    """Every eighth record is relevant and leans to the words of the topic."""
    draw = random.Random(seed)
    documents, labels = [], []
    for i in range(n):
        relevant = i % 8 == 0
        words = draw.choices(OTHER, k=12) + draw.choices(TOPIC, k=8 if relevant else 2)
        draw.shuffle(words)
        documents.append(Document(f"r{i:03}", " ".join(words[:5]), " ".join(words[5:])))
        labels.append(relevant)
    return documents, labels


DOCUMENTS, LABELS = example()
POOL = LabelledPool.of(DOCUMENTS, LABELS)
PRIORS = ("r000", "r001")


def plain_loop(batch: int) -> list[str]:
    """The certainty strategy as a sentence: fit on what is labelled, take the highest scores of the rest."""
    features = np.hstack([POOL.matrix.toarray(), np.full((len(POOL), 1), np.sqrt(BIAS))])
    labelled, order = [0, 1], []
    while not all(POOL.relevant[row] <= (row in labelled) for row in range(len(POOL))):
        y = np.where(POOL.relevant[labelled], 1.0, -1.0)
        positives = (y > 0).sum()
        light = RELEVANT_WEIGHT * positives / (BALANCE * (len(y) - positives))
        model = Ridge(alpha=1.0, fit_intercept=False, solver="cholesky")
        model.fit(features[labelled], y, sample_weight=2 * np.where(y > 0, RELEVANT_WEIGHT, light))
        rest = [row for row in range(len(POOL)) if row not in labelled]
        chosen = sorted(rest, key=lambda row: -model.predict(features[[row]])[0])[:batch]
        labelled += chosen
        order += [POOL.ids[row] for row in chosen]
    return order


@pytest.mark.parametrize("batch", [1, 7])
def test_certainty_reads_what_a_fit_from_scratch_would(batch: int) -> None:
    run = simulate(POOL, PRIORS, batch=batch)
    assert [step.id for step in run.steps] == plain_loop(batch)
    assert run.ended is Ended.ALL_FOUND
    assert [step.trained_on for step in run.steps] == [2 + i // batch * batch for i in range(len(run.steps))]


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_order_of_the_input_does_not_matter_and_every_record_is_read_once(strategy: Strategy) -> None:
    order = list(range(len(DOCUMENTS)))
    random.Random(3).shuffle(order)
    shuffled = LabelledPool.of([DOCUMENTS[i] for i in order], [LABELS[i] for i in order])
    one, other = (
        simulate(pool, PRIORS, strategy=strategy, batch=10, seed=4, to_the_end=True)
        for pool in (POOL, shuffled)
    )
    assert one == other
    assert one.ended is Ended.ALL_SCREENED
    assert sorted(step.id for step in one.steps) == sorted(set(POOL.ids) - set(PRIORS))
    assert json.loads(json.dumps(one.to_json(), allow_nan=False)) == one.to_json()


def test_the_control_is_the_order_by_hash_and_sees_no_label() -> None:
    run = simulate(POOL, PRIORS, strategy=Strategy.RANDOM, seed=9, to_the_end=True)
    rest = [one for one in POOL.ids if one not in PRIORS]
    assert [step.id for step in run.steps] == by_hash(rest, 9)


def test_learning_finds_what_is_relevant_sooner_than_chance() -> None:
    learned = simulate(POOL, PRIORS, batch=1).discovery
    control = [simulate(POOL, PRIORS, strategy=Strategy.RANDOM, seed=seed).discovery for seed in range(20)]
    assert (learned.atd() or 0) < min(run.atd() or 0 for run in control)


def test_a_mixed_batch_has_its_three_reasons() -> None:
    run = simulate(POOL, PRIORS, strategy=Strategy.MIX, batch=20, to_the_end=True)
    first = [step.reason for step in run.steps[:20]]
    assert {reason: first.count(reason) for reason in set(first)} == {
        "anchor": 4,
        "spread": 10,
        "uncertain": 6,
    }


def test_without_both_kinds_of_prior_the_start_is_by_chance() -> None:
    run = simulate(POOL, [], seed=2)
    until = next(i for i, step in enumerate(run.steps) if step.relevant)
    assert [step.id for step in run.steps[: until + 1]] == by_hash(POOL.ids, 2)[: until + 1]
    assert run.steps[0].reason == "random"
    assert run.steps[until + 1].reason == "certain"


def test_an_interrupted_run_keeps_what_was_read() -> None:
    seen: list[tuple[int, int]] = []

    def progress(screened: int, found: int) -> bool:
        seen.append((screened, found))
        return screened < 12

    run = simulate(POOL, PRIORS, batch=4, progress=progress)
    whole = simulate(POOL, PRIORS, batch=4)
    assert run.ended is Ended.INTERRUPTED
    assert run.steps == whole.steps[:12]
    assert [screened for screened, _ in seen] == [4, 8, 12]
    assert run.discovery.atd() is None


def test_priors_are_those_of_asreview() -> None:
    """`asreview simulate` 3.0.8 on Nelson 2002 (366 records) with --prior-seed 42 labels rows 139 and 10."""
    irrelevant_until_139 = [row == 139 for row in range(366)]
    assert draw_priors([str(row) for row in range(366)], irrelevant_until_139, 42)[0] == "139"


def test_priors_of_a_real_set_are_those_of_asreview(shared: Path) -> None:
    """The same run: one relevant prior, row 139, and one irrelevant, row 10."""
    lines = (shared / "data/screening/synergy/Nelson_2002/labels.csv").read_text().splitlines()[1:]
    labels = [line.rsplit(",", 1)[1] == "1" for line in lines]
    assert draw_priors([str(row) for row in range(len(labels))], labels, 42) == ("139", "10")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate(POOL, PRIORS, batch=0), "batch is 0"),
        (lambda: simulate(POOL, ["nobody"]), "'nobody' is not in the pool"),
        (lambda: simulate(POOL, ["r000", "r000"]), "named twice"),
        (lambda: LabelledPool.of(DOCUMENTS[:3], [True] * 3), "3 of 3 records are relevant"),
        (lambda: LabelledPool.of(DOCUMENTS[:3], [False] * 3), "0 of 3 records are relevant"),
        (lambda: LabelledPool.of(DOCUMENTS[:3], [True]), "1 labels for 3"),
        (lambda: LabelledPool.of([DOCUMENTS[0]] * 2, [True, False]), "'r000' stands twice"),
        (lambda: draw_priors(["a", "b"], [True, False], 0, relevant=2), "2 relevant priors"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_a_sentence(call: Any, message: str) -> None:
    with pytest.raises(ClassifierError, match=message):
        call()


HEADER = "id,title,abstract,label,year\n"


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records.csv"
    lines = [
        f"{d.id},{d.title},{d.abstract},{int(label)},2001" for d, label in zip(DOCUMENTS, LABELS, strict=True)
    ]
    path.write_text(HEADER + "\n".join([*lines, "u1,not judged,,,2002"]) + "\n")
    return path


def test_the_analysis_runs_by_its_registered_name(records: Path) -> None:
    (point,) = entry_points(group="proofshelf.analyses", name="screening-simulation")
    result = point.load()({"records": records}, {"batch": "5", "replicates": 2}, 3)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    outputs = result["outputs"]
    assert (outputs["records"], outputs["relevant"], outputs["unknown_label_left_out"]) == (80, 10, 1)
    assert set(outputs["strategies"]) == {"certainty", "random"}
    runs = outputs["strategies"]["certainty"]["runs"]
    assert [run["seed"] for run in runs] == [3, 4]
    mean = outputs["strategies"]["certainty"]["mean"]["wss_at_95"]
    assert mean == pytest.approx((runs[0]["wss_at_95"] + runs[1]["wss_at_95"]) / 2)
    columns = result["tables"]["order"]["columns"]
    assert all(len(row) == len(columns) for row in result["tables"]["order"]["rows"])
    assert simulation({"records": records}, {"batch": "5", "replicates": 2}, 3) == result


@pytest.mark.parametrize(
    ("lines", "parameters", "message"),
    [
        ("a,t,x,2,\n", {}, "line 2: label is '2'"),
        (",t,x,1,\n", {}, "line 2: id is empty"),
        ("a,t,x,1,\na,t,x,0,\n", {}, "'a' stands twice"),
        ("a,t,x,1,\nb,t,x,,\n", {}, "1 of 1 records are relevant"),
        ("a,t,x\n", {}, "line 2: 3 cells"),
        ("a,t,x,1,\nb,t,x,0,\n", {"batch": 0}, "batch is 0"),
        ("a,t,x,1,\nb,t,x,0,\n", {"strategies": "certain"}, "'certain'"),
        ("a,t,x,1,\nb,t,x,0,\n", {"strategies": "random,random"}, "each once"),
        ("a,t,x,1,\nb,t,x,0,\n", {"prior_relevant": 2}, "2 relevant priors"),
        ("a,t,x,1,\nb,t,x,0,\n", {"speed": 1}, "no parameter 'speed'"),
    ],
)
def test_the_analysis_refuses_bad_input_in_a_sentence(
    lines: str, parameters: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "records.csv"
    path.write_text(HEADER + lines)
    with pytest.raises(ClassifierError, match=message):
        simulation({"records": path}, parameters, 0)
