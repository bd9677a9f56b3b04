"""The compact form: what goes in comes out, in every field."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats import read_trace, write_trace
from scheduling_core.queueing.jobs import NEVER, Job, Trace

ODD_TEXT = st.sampled_from(
    ["", " ", '"', '""', "a,b", "a\nb", "\r", "\x85", "\u2028", "\\n", "null", '"a"', "#", "é", "\0"]
)
TEXTS = ODD_TEXT | st.text(max_size=8)
OPTIONAL = st.none() | TEXTS
NUMBERS = st.integers(0, 100) | st.integers(0, NEVER - 2)


@st.composite
def jobs(draw: st.DrawFn, id: str) -> Job:
    submit = draw(NUMBERS)
    return Job(
        id, submit, 1 + draw(NUMBERS), 1 + draw(NUMBERS),
        draw(st.none() | st.integers(submit + 1, NEVER - 1)), draw(OPTIONAL), draw(OPTIONAL), draw(OPTIONAL),
    )  # fmt: skip


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    ids = draw(st.lists(TEXTS, min_size=1, max_size=6, unique=True))
    return Trace(
        draw(TEXTS), tuple(draw(jobs(id)) for id in ids),
        Fraction(draw(st.integers(1, 999)), draw(st.integers(1, 10**12))), draw(TEXTS),
        draw(st.booleans()), tuple(draw(st.lists(TEXTS, max_size=3))),
    )  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=100)
@given(trace=traces())
@example(trace=Trace("", (Job("", 0, 1, 1, user=""),)))
def test_round_trip(tmp_path: Path, trace: Trace) -> None:
    """Every field, its order and its hash; and writing what was read gives the same bytes."""
    path = tmp_path / "FILE"
    path.write_text(write_trace(trace), encoding="utf-8", newline="")
    found = read_trace(path)
    assert found.trace == trace
    assert found.trace.sha256 == trace.sha256
    assert found.format == "compact"
    assert write_trace(found.trace) == write_trace(trace)


def test_as_it_stands() -> None:
    """The text itself, so that files which were written once stay readable."""
    trace = Trace(
        "a, b", (Job("1", 0, 2, 30), Job("2\n", 5, 1, 7, 90, "v100", "LM (5, 1)", "")), Fraction(1, 1000)
    )
    assert write_trace(trace).splitlines() == [
        '# queueing trace 1 {"name": "a, b", "tick": "1/1000", "duration_means": '
        '"run time with all GPUs, without restarts", "synthetic": false, "notes": []}',
        "id,submit,gpus,duration,deadline,gpu_type,model,user",
        "1,0,2,30,,,,",
        '"""2\\n""",5,1,7,90,v100,"LM (5, 1)",""""""',
    ]


def test_what_couldnt_be_read_again_isnt_written() -> None:
    with pytest.raises(SchedulingError, match="0 jobs isn't written"):
        write_trace(Trace("t", ()))
    with pytest.raises(SchedulingError, match="doesn't fit 64 bits"):
        write_trace(Trace("t", (Job("a", 0, 1, NEVER),)))
    with pytest.raises(SchedulingError, match="isn't Unicode"):
        write_trace(Trace("t", (Job("\ud800", 0, 1, 1),)))
    with pytest.raises(SchedulingError, match="isn't Unicode"):
        write_trace(Trace("\ud800", (Job("a", 0, 1, 1),)))


def test_bad_lines_are_told_and_set_aside(tmp_path: Path) -> None:
    text = write_trace(Trace("t", (Job("a", 0, 1, 5, 9), Job("b", 1, 1, 5), Job("c", 2, 1, 5))))
    bad = text.replace("a,0,1,5,9", "a,0,1,5,0").replace("b,1,1,5", "b,1.5,1,5")
    path = tmp_path / "FILE"
    path.write_text(bad)
    with pytest.raises(SchedulingError, match="FILE line 3: deadline is '0', expected a whole number from 1"):
        read_trace(path)
    found = read_trace(path, skip_bad=True)
    assert [job.id for job in found.trace.jobs] == ["c"]
    assert [item.reason for item in found.rejected][1] == (
        "FILE line 4: submit is '1.5', expected a whole number from 0."
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"tick": "1"', '"tick": "0"', "line 1: the head has a value of another kind"),
        ('"tick": "1"', '"tick": "1/0"', "line 1: the head can't be read"),
        ('"tick": "1"', '"tick": "1e99999999"', "line 1: the head has a value of another kind"),
        ('"notes": []', '"notes": [1]', "line 1: the head has a value of another kind"),
        ('"name"', '"title"', "line 1: the head can't be read"),
        ("id,submit", "id,start", "line 2: the columns aren't id, submit"),
    ],
)
def test_a_head_that_is_wrong(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = write_trace(Trace("t", (Job("a", 0, 1, 5),)))
    assert old in text
    (tmp_path / "FILE").write_text(text.replace(old, new))
    with pytest.raises(SchedulingError, match=r"^FILE ") as refused:
        read_trace(tmp_path / "FILE", skip_bad=True)
    assert words in str(refused.value)
