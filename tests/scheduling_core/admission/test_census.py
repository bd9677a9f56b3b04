"""The census of hand-made trials, counted by hand, and the published counts of real ones."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from admission_cases import attempt, workload
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Cause, ScoreState, TimeState
from scheduling_core.admission.census import Census, Raised, census, means
from scheduling_core.admission.formats import Assumptions, Import, read_workload

TRIALS = Path(__file__).parent / "trials" / "trials.jsonl"


@pytest.fixture
def counted() -> Census:
    return census(read_workload(TRIALS, Assumptions()))


def test_every_attempt_is_counted_once(counted: Census) -> None:
    """17 trials of 4 tasks: alpha 4, beta 4, gamma 4, delta 5; one has no finish."""
    assert (counted.attempts, counted.replayable, counted.rejected) == (17, 16, 0)
    assert counted.unreplayable == (("finished_at is missing, so how long it took isn't known.", 1),)
    assert (counted.tasks, counted.attempts_per_task) == (4, ((4, 3), (5, 1)))


def test_the_labels_are_counted_each_by_itself(counted: Census) -> None:
    """Valued: solved, wrong, timeout-scored, exit, context, many-steps, override, no-log.

    Complete: solved, wrong, exit, override, unverified, no-reward-file, no-log.
    """
    assert counted.score == (("valued", 8), ("missing", 9))
    assert counted.time == (("complete", 7), ("right_censored", 10))
    assert counted.cause == (("model", 6), ("agent_limit", 4), ("infrastructure", 4), ("unknown", 3))
    assert sum(labels.attempts for labels in counted.combinations) == 17
    neither = [c for c in counted.combinations if c.exception is None and c.score is ScoreState.MISSING]
    assert [(c.time, c.cause, c.attempts) for c in neither] == [
        (TimeState.RIGHT_CENSORED, Cause.UNKNOWN, 2),
        (TimeState.COMPLETE, Cause.MODEL, 1),
    ]


def test_exceptions_are_counted_with_their_scores(counted: Census) -> None:
    """Without one: solved, wrong, override, no-log scored; neither, no-finish, unverified not."""
    rows = {raised.exception: raised for raised in counted.exceptions}
    assert rows[None] == Raised(None, 7, 4, 1, 0)
    assert rows["AgentTimeoutError"] == Raised("AgentTimeoutError", 3, 2, 1, 0)
    assert rows["CancelledError"] == Raised("CancelledError", 1, 0, 0, 1)
    assert sum(raised.attempts for raised in counted.exceptions) == 17


def test_both_strata_are_told_and_the_clean_one_is_the_models_own(counted: Census) -> None:
    """Clean: solved, wrong, exit, override, unverified, no-log; as logged: all with a known length."""
    assert counted.strata == (("as_logged", 16), ("clean", 6))


def test_the_scored_mean_stands_beside_two_wrong_ones(counted: Census) -> None:
    """Scores 1, 0, 1, 1, 0, 0.5, 0, 0 sum to 3.5; of the unraised ones 1, 0, 0, 0 to 1."""
    told = [(mean.total, mean.attempts) for mean in counted.means]
    assert told == [(3.5, 8), (3.5, 17), (1.0, 4)]
    assert [mean.wrong is None for mean in counted.means] == [True, False, False]


def test_without_a_score_there_is_no_mean() -> None:
    (scored, zeroed, calm) = means([attempt("a", "model 3")])
    assert (scored.value, zeroed.value, calm.value) == (None, 0.0, None)
    assert zeroed.wrong


def test_hours_are_counted_by_kind_and_those_of_censored_attempts_apart(counted: Census) -> None:
    """Set-up is 3 s in each of 17; of 10 censored ones too.

    Model time is 4.5 s where a log is: not for sandbox, many-steps, no-log, so 14 times; of the censored
    ones all but sandbox and many-steps, 8 times.
    """
    ticks, censored = dict(counted.ticks), dict(counted.censored_ticks)
    assert (ticks["setup"], censored["setup"]) == (17 * 30, 10 * 30)
    assert (ticks["model"], censored["model"]) == (14 * 45, 8 * 45)
    assert ticks["mixed"] == 0


def test_what_is_missing_or_assumed_is_named(counted: Census) -> None:
    """No verifier: timeout, neither, sandbox, no-finish, unverified.

    No step log: sandbox, many-steps, no-log.
    """
    assert dict(counted.missing) == {
        "verifier": 5, "step log": 3, "agent_execution": 1, "finished_at": 1,
    }  # fmt: skip
    assert dict(counted.assumed) == {"image_kib": 16, "cpu_milli": 15, "ram_kib": 15, "disk_kib": 15}


def test_the_census_is_plain_json_and_a_table(counted: Census) -> None:
    row = json.loads(json.dumps(counted.row(), allow_nan=False))
    assert row["means"][0]["value"] == 3.5 / 8
    assert row["score"] == {"valued": 8, "missing": 9}
    table = counted.table()
    assert table["columns"] == ["what", "which", "value"]
    assert all(len(line) == 3 for line in table["rows"])
    assert ["mean score, scored only", "n = 8", 3.5 / 8] in table["rows"]
    assert sum(line[0].startswith("wrong mean, ") for line in table["rows"]) == 2
    json.dumps(table, allow_nan=False)


SCORES = st.lists(
    st.tuples(st.none() | st.sampled_from([0.0, 1.0]), st.sampled_from([None, "E"])), max_size=9
)


@given(SCORES)
def test_a_missing_score_never_moves_the_mean(scores: Iterable[tuple[float | None, str | None]]) -> None:
    attempts = [
        attempt(str(n), "model 1", score=score, exception=said) for n, (score, said) in enumerate(scores)
    ]
    unscored = [attempt(f"more {n}", "model 1") for n in range(3)]
    assert means(attempts)[0] == means([*attempts, *unscored])[0]
    counted = census(Import(workload(*attempts)))
    assert dict(counted.score)["valued"] == sum(score is not None for score, _ in scores)


def test_real_trials_have_the_published_counts(shared: Path) -> None:
    """445 trials: 407 scored without exception, 112 of them at 1.0; 33 agent timeouts, 31 with a reward,
    9 at 1.0; 5 with neither. Means 121/438, and wrongly 121/445 and 112/407."""
    counted = census(read_workload(shared / "data/tmax/tmax-9b.trials.jsonl.gz", Assumptions()))
    assert (counted.attempts, counted.tasks, counted.attempts_per_task) == (445, 89, ((5, 89),))
    assert counted.exceptions == (
        Raised(None, 412, 407, 112, 0),
        Raised("AgentTimeoutError", 33, 31, 9, 0),
    )
    assert (dict(counted.cause)["unknown"], dict(counted.time)["right_censored"]) == (5, 38)
    assert counted.strata == (("as_logged", 445), ("clean", 407))
    told = [(mean.total, mean.attempts, round(mean.value or 0, 5)) for mean in counted.means]
    assert told == [(121.0, 438, 0.27626), (121.0, 445, 0.27191), (112.0, 407, 0.27518)]
