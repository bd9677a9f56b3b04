"""The checker rejects every mutation of a valid log, and says which job is wrong."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from queueing_strategies import Ranked, checked, clusters, log_of, traces

from scheduling_core.queueing.check import Kind, Report, check
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.simulator import simulate

NODES = [(4, "a"), (4, "b")]
ROWS = [
    {"id": "a", "submit": 0, "gpus": 4, "duration": 10, "gpu_type": "a"},
    {"id": "b", "submit": 0, "gpus": 2, "duration": 6},
    {"id": "c", "submit": 2, "gpus": 2, "duration": 3},
    {"id": "d", "submit": 3, "gpus": 4, "duration": 4, "gpu_type": "a"},
]
LOG = [
    "0,a,start,0:4", "0,b,start,1:2", "2,c,start,1:2", "5,c,end,", "5,a,preempt,", "5,d,start,0:4",
    "6,b,end,", "9,d,end,", "9,a,resume,0:4", "16,a,end,",
]  # fmt: skip
"""a has 5 of its 10 ticks at 5; resumed at 9, it pays 2 for its restart and ends at 9 + 2 + 5."""

Lines = list[str]


def verdict(lines: Lines, rule: str = "consolidated") -> Report:
    text = "\n".join(["time,job,action,place", *lines, ""])
    return check(text, ROWS, NODES, rule, unit=Fraction(1), restarts={"a": 2})


def replaced(old: str, *new: str) -> Callable[[Lines], Lines]:
    """One line by others."""

    def change(lines: Lines) -> Lines:
        assert lines.count(old) == 1
        at = lines.index(old)
        return [*lines[:at], *new, *lines[at + 1 :]]

    return change


def moved(old: str, after: str, new: str) -> Callable[[Lines], Lines]:
    """A line to another place and time."""
    return lambda lines: replaced(after, after, new)(replaced(old)(lines))


def without(name: str) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if line.split(",")[1] != name]


def swapped(one: str, other: str) -> Callable[[Lines], Lines]:
    names = {one: other, other: one}

    def change(lines: Lines) -> Lines:
        fields = [line.split(",") for line in lines]
        return [",".join([time, names.get(job, job), *rest]) for time, job, *rest in fields]

    return change


def exchanged(at: int) -> Callable[[Lines], Lines]:
    """A line and the next."""
    return lambda lines: [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


MUTATIONS: dict[str, tuple[Callable[[Lines], Lines], Kind, str]] = {
    "overlap of GPUs": (replaced("2,c,start,1:2", "2,c,start,0:2"), Kind.NODE, "c"),
    "capacity": (moved("5,a,preempt,", "6,b,end,", "6,a,preempt,"), Kind.CAPACITY, "d"),
    "lost job": (without("b"), Kind.LOST, "b"),
    "lost end": (replaced("16,a,end,"), Kind.LOST, "a"),
    "lost after a preemption": (lambda lines: lines[:8], Kind.LOST, "a"),
    "early start": (replaced("2,c,start,1:2", "1,c,start,1:2"), Kind.EARLY_START, "c"),
    "dropped preemption": (replaced("5,a,preempt,"), Kind.NOT_PREEMPTED, "a"),
    "dropped resumption": (replaced("9,a,resume,0:4"), Kind.NOT_RUNNING, "a"),
    "dropped start": (replaced("0,b,start,1:2"), Kind.NOT_RUNNING, "b"),
    "swapped jobs": (swapped("b", "d"), Kind.GANG, "b"),
    "swapped jobs of one gang": (swapped("a", "d"), Kind.EARLY_START, "d"),
    "end later": (replaced("6,b,end,", "7,b,end,"), Kind.ENDED_LATE, "b"),
    "end earlier": (replaced("6,b,end,", "5,b,end,"), Kind.ENDED_EARLY, "b"),
    "restart unpaid": (replaced("16,a,end,", "14,a,end,"), Kind.ENDED_EARLY, "a"),
    "restart paid twice": (replaced("16,a,end,", "18,a,end,"), Kind.ENDED_LATE, "a"),
    "preempted at its end": (replaced("6,b,end,", "6,b,preempt,"), Kind.ENDED_LATE, "b"),
    "doubled start": (replaced("0,b,start,1:2", "0,b,start,1:2", "0,b,start,1:2"), Kind.STARTED_TWICE, "b"),
    "start for a resumption": (replaced("9,a,resume,0:4", "9,a,start,0:4"), Kind.STARTED_TWICE, "a"),
    "start after the end": (replaced("16,a,end,", "16,a,end,", "17,a,start,0:4"), Kind.STARTED_TWICE, "a"),
    "resumption for a start": (replaced("2,c,start,1:2", "2,c,resume,1:2"), Kind.NOT_PREEMPTED, "c"),
    "resumed while running": (replaced("5,c,end,", "4,c,resume,1:2", "5,c,end,"), Kind.NOT_PREEMPTED, "c"),
    "ended twice": (replaced("6,b,end,", "6,b,end,", "7,b,end,"), Kind.NOT_RUNNING, "b"),
    "preempted twice": (replaced("5,a,preempt,", "5,a,preempt,", "5,a,preempt,"), Kind.NOT_RUNNING, "a"),
    "wrong type": (replaced("5,d,start,0:4", "5,d,start,1:4"), Kind.TYPE, "d"),
    "two types": (replaced("2,c,start,1:2", "2,c,start,0:1 1:1"), Kind.TYPE, "c"),
    "no such node": (replaced("2,c,start,1:2", "2,c,start,2:2"), Kind.NODE, "c"),
    "half a gang": (replaced("5,d,start,0:4", "5,d,start,0:2"), Kind.GANG, "d"),
    "more than a gang": (replaced("2,c,start,1:2", "2,c,start,1:3"), Kind.GANG, "c"),
    "no place": (replaced("2,c,start,1:2", "2,c,start,"), Kind.GANG, "c"),
    "unknown job": (replaced("2,c,start,1:2", "2,x,start,1:2", "2,c,start,1:2"), Kind.UNKNOWN_JOB, "x"),
    "unknown action": (replaced("5,a,preempt,", "5,a,pause,"), Kind.UNKNOWN_ACTION, "a"),
    "backwards": (exchanged(6), Kind.BACKWARDS, "b"),
    "out of order": (exchanged(4), Kind.ORDER, "a"),
    "preempted before an end": (exchanged(3), Kind.ORDER, "c"),
    "a time that isn't whole": (replaced("6,b,end,", "6.0,b,end,"), Kind.FORM, "b"),
    "a time below 0": (replaced("0,b,start,1:2", "-1,b,start,1:2"), Kind.FORM, "b"),
    "a place that is none": (replaced("2,c,start,1:2", "2,c,start,1:x"), Kind.FORM, "c"),
    "a node twice": (replaced("2,c,start,1:2", "2,c,start,1:1 1:1"), Kind.FORM, "c"),
    "a place at an end": (replaced("5,c,end,", "5,c,end,1:2"), Kind.FORM, "c"),
    "a field less": (replaced("6,b,end,", "6,b,end"), Kind.FORM, "b"),
}


def test_the_log_that_is_mutated_is_valid() -> None:
    assert verdict(LOG).findings == ()


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_rejected_and_names_its_job(name: str) -> None:
    change, kind, job = MUTATIONS[name]
    report = verdict(change(LOG))
    assert not report.ok
    assert (kind, job) in {(finding.kind, finding.job) for finding in report.findings}
    for finding in report.findings:
        assert finding.job is not None
        assert finding.job in finding.sentence
        assert finding.time is None or str(finding.time) in finding.sentence
        assert finding.sentence.endswith(".")
        assert "\n" not in finding.sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("overlap of GPUs", "At 2 job c: it takes 2 GPUs of node 0, but 4 of 4 are held."),
        ("capacity", "At 5 job d: it takes 4 GPUs, but 6 of 8 are held."),
        ("lost job", "Job b never ends: it is submitted at 0, expected that it starts."),
        ("early start", "At 1 job c: it is given GPUs, but is submitted at 2."),
        ("end later", "At 7 job b: it ends, expected its end at 6 (6 ticks of work, 0 done before 0)."),
        ("restart unpaid", "At 14 job a: it ends, expected at 16 (10 ticks of work, 5 done before 9, a "
         "restart of 2)."),
        ("half a gang", "At 5 job d: it gets 2 GPUs, expected all 4 or none."),
        ("wrong type", "At 5 job d: it gets GPUs of type b, expected a."),
    ],
)  # fmt: skip
def test_what_is_found_is_said_in_one_sentence(name: str, sentence: str) -> None:
    assert sentence in {finding.sentence for finding in verdict(MUTATIONS[name][0](LOG)).findings}


def test_a_consolidated_gang_isnt_spread() -> None:
    """Three nodes of 4: 3 GPUs are on one node; 6 are a whole node and 2 more, not 3 and 3."""
    rows = [
        {"id": "small", "submit": 0, "gpus": 3, "duration": 1},
        {"id": "large", "submit": 0, "gpus": 6, "duration": 1},
    ]

    def found(small: str, large: str, rule: str) -> list[tuple[Kind, str | None]]:
        lines = [f"0,small,start,{small}", f"0,large,start,{large}", "1,small,end,", "1,large,end,"]
        text = "\n".join(["time,job,action,place", *lines])
        return [(f.kind, f.job) for f in check(text, rows, [(4, "g")] * 3, rule).findings]

    assert found("0:3", "1:4 2:2", "consolidated") == []
    assert found("0:2 1:1", "1:2 2:4", "consolidated") == [(Kind.CONSOLIDATED, "small")]
    assert found("0:3", "1:3 2:3", "consolidated") == [(Kind.CONSOLIDATED, "large")]
    assert found("0:2 1:1", "1:3 2:3", "spread") == []
    assert found("0:2 1:1", "1:3 2:3", "count") == []


def test_a_restart_that_is_cut_is_due_again_in_whole() -> None:
    """low has 3 of 5 at 3; from 4 to 5 it pays 1 of 2, in vain; from 6 it pays 2 and ends at 10, not at 9."""
    rows = [
        {"id": "low", "submit": 0, "gpus": 1, "duration": 5},
        {"id": "x", "submit": 3, "gpus": 1, "duration": 1},
        {"id": "y", "submit": 5, "gpus": 1, "duration": 1},
    ]
    text = (
        "time,job,action,place\n0,low,start,\n3,low,preempt,\n3,x,start,\n4,x,end,\n4,low,resume,\n"
        "5,low,preempt,\n5,y,start,\n6,y,end,\n6,low,resume,\n{},low,end,\n"
    )
    assert check(text.format(10), rows, [(1, "g")], restarts={"low": 2}).ok
    (finding,) = check(text.format(9), rows, [(1, "g")], restarts={"low": 2}).findings
    assert (finding.kind, finding.job, finding.time) == (Kind.ENDED_EARLY, "low", 9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The log begins with None, expected the columns time, job, action, place."),
        ("time,job\n", "The log begins with ['time', 'job'], expected the columns time, job, action, place."),
        ("time,job,action,place\n\n", "Line 2: 0 fields, expected 4."),
        (
            f"time,job,action,place\n0,{'a' * 200_000},end,\n",
            "Line 2 can't be read as CSV (200,008 characters, expected at most 100,000), nor what follows.",
        ),
    ],
)
def test_a_text_that_is_no_log(text: str, sentence: str) -> None:
    first = check(text, ROWS, NODES).findings[0]
    assert first.kind is Kind.FORM
    assert first.sentence.startswith(sentence)


FIELDS = st.sampled_from(
    [
        "0",
        "2",
        "6",
        "1e3",
        "",
        "a",
        "b",
        "x",
        "start",
        "resume",
        "preempt",
        "end",
        "0:4",
        "1:2",
        "9:9",
        '"',
        "\x00",
    ]
)
"""Of lines that are nearly right."""


@given(
    text=st.text()
    | st.lists(st.lists(FIELDS, max_size=5).map(",".join)).map(
        lambda lines: "\n".join(["time,job,action,place", *lines])
    )
)
def test_whatever_a_text_holds_it_is_judged(text: str) -> None:
    """No log of these jobs is valid without all their ends, and none raises."""
    report = verdict(text.split("\n")[1:])
    assert not report.ok
    assert not check(text, ROWS, NODES).ok


def by_size(seed: int) -> Policy:
    """An order of jobs that changes with the seed and preempts much."""
    return Ranked({job: (job * seed + seed) % 11 for job in range(11)})


EDITS = ("drop", "double", "retime", "act", "rename", "resize")


@settings(max_examples=250)
@given(
    trace=traces(least=2), cluster=clusters(), seed=st.integers(1, 10), edit=st.sampled_from(EDITS),
    data=st.data(),
)  # fmt: skip
def test_any_edit_of_one_line_is_rejected(
    trace: Trace, cluster: Cluster, seed: int, edit: str, data: st.DataObject
) -> None:
    """Without restarts one line can't change alone: a job's times add up to its duration, or they don't."""
    outcome = simulate(trace, cluster, by_size(seed), decisions=True)
    assume(len(outcome.trace))
    header, *lines = log_of(outcome).splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    time, job, action, place = lines[at].split(",")
    if edit == "drop":
        new = []
    elif edit == "double":
        new = [lines[at], lines[at]]
    elif edit == "retime":
        shift = data.draw(st.integers(-5, 5).filter(bool))
        new = [f"{int(time) + shift},{job},{action},{place}"]
    elif edit == "act":
        others = {"end", "preempt", "start", "resume"} - {action}
        new = [f"{time},{job},{data.draw(st.sampled_from(sorted(others)))},{place}"]
    elif edit == "rename":
        others = {other.id for other in trace.jobs} - {job}
        new = [f"{time},{data.draw(st.sampled_from(sorted(others)))},{action},{place}"]
    else:
        assume(place)
        new = [f"{time},{job},{action},{place}0"]  # ten times the GPUs of the last node
    edited = "\n".join([header, *lines[:at], *new, *lines[at + 1 :], ""])
    report = checked(trace, outcome, log=edited)
    assert job in {finding.job for finding in report.findings}
