"""The gate over releases: the hold-out is what all of them scored out of fold, with the newest labels."""

import numpy as np
import pytest

from catalog.training.gate import PastRelease, judge_gate
from classifiers.report import COLUMNS

HEAD = "ann/topic"
N = 600
RANDOM = np.random.default_rng(1)
LABELS = (np.arange(N) % 5 == 0).astype(int)
SCORES = 2.0 * LABELS + RANDOM.normal(size=N)


def predictions(scores: np.ndarray, labels: np.ndarray = LABELS, works: range = range(N)) -> str:
    rows = [",".join(COLUMNS)]
    for i in works:
        label = "" if labels[i] < 0 else str(labels[i])
        cells = {
            "work": f"w{i:04}", "head": "ann", "category": "topic", "fold": str(i % 5),
            "group": f"v{i % 60}", "y": label, "weight": "1.0", "score": repr(float(scores[i])),
        }  # fmt: skip
        rows.append(",".join(cells.get(c, "") for c in COLUMNS))
    return "\n".join(rows) + "\n"


def releases(
    count: int, noise: float, panel: str = "ann 1", new_labels: bool = True
) -> list[PastRelease]:  # fmt: skip
    """Each learned one label more than the one before, unless there are no new labels."""
    made = []
    for n in range(1, count + 1):
        shaken = SCORES + noise * np.random.default_rng(n).normal(size=N)
        labels = LABELS.copy()
        if new_labels:
            labels[n:10] = -1
        made.append(PastRelease(n, panel, predictions(shaken, labels)))
    return made


def judged(made: list[PastRelease], gate: str = "strict"):
    return judge_gate(made[:-1], made[-1], [HEAD], gate, seed=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("gate", ["published", "strict"])
def test_a_student_that_doesnt_change_matures_and_one_that_does_not(gate: str) -> None:
    assert judged(releases(7, 0.001), gate).maturity == "passed"
    assert judged(releases(7, 1.0), gate).maturity == "not_passed"


@pytest.mark.parametrize("gate", ["published", "strict"])
def test_the_first_rounds_are_unknown_which_isnt_passed(gate: str) -> None:
    report = judged(releases(2, 0.001), gate)
    assert report.maturity == "unknown"
    assert [r.number for r in report.heads[0].rounds] == [1, 2]
    assert judged(releases(1, 0.001), gate).heads[0].rounds[0].churn is None


def test_both_verdicts_are_shown_whichever_decides() -> None:
    report = judged(releases(7, 0.001), "published").to_json()
    assert [v["gate"] for v in report["verdicts"]] == ["published", "strict"]
    assert {c["name"] for c in report["verdicts"][0]["conditions"]} == {
        f"{HEAD}: {name}" for name in ("average_precision", "churn", "spearman")
    }


def test_the_holdout_is_what_every_release_scored_and_the_newest_knows() -> None:
    earlier = [PastRelease(n, "p", predictions(SCORES, works=range(400))) for n in range(1, 7)]
    unknown = LABELS.copy()
    unknown[:10] = -1
    report = judged([*earlier, PastRelease(7, "p", predictions(SCORES, unknown))])
    assert report.heads[0].works == 390
    assert report.heads[0].positives == LABELS[10:400].sum()


def test_a_new_panel_begins_anew_for_the_strict_gate() -> None:
    made = [*releases(6, 0.001, "ann 1"), PastRelease(7, "ann 2", predictions(SCORES))]
    assert judged(made, "published").maturity == "passed"
    assert judged(made, "strict").maturity == "unknown"


def test_without_a_calibrated_head_nothing_matures() -> None:
    made = releases(7, 0.001)
    assert judge_gate(made[:-1], made[-1], [], "published", seed=1).maturity == "unknown"


def test_a_holdout_without_positives_says_nothing() -> None:
    none = np.zeros(N, int)
    made = [PastRelease(n, "p", predictions(SCORES, none)) for n in range(1, 8)]
    report = judged(made)
    assert (report.maturity, report.heads[0].positives, report.heads[0].rounds) == ("unknown", 0, ())


@pytest.mark.parametrize("gate", ["published", "strict"])
def test_training_again_on_the_same_labels_is_no_further_round(gate: str) -> None:
    report = judged(releases(7, 0.001, new_labels=False), gate)
    assert report.maturity == "unknown"
    assert [r.number for r in report.heads[0].rounds] == [7]
