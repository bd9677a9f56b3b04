"""Each published format in a small invented sample: what its rows mean, worked out by hand."""

import gzip
import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats import FORMATS, read_trace
from scheduling_core.queueing.jobs import Job

SAMPLES = Path(__file__).parent / "samples"
RATES = {"throughputs": SAMPLES / "rates.json"}

EXPECTED: list[tuple[str, dict[str, Any], str, Fraction, list[Job]]] = [
    (  # seconds; quarters of a second are the least that hold 30.5 and 12.25
        "tiresias.csv", {}, "tiresias", Fraction(1, 4),
        [Job("0", 0, 1, 400, model="vgg16"), Job("1", 120, 8, 1000, model="resnet50"),
         Job("2", 122, 2, 49, model="gpt2")],
    ),
    (  # milliseconds as they stand
        "muri.csv", {}, "muri", Fraction(1, 1000),
        [Job("0", 0, 4, 94_000, model="bert"), Job("1", 1500, 1, 1000, model="dqn")],
    ),
    (  # 1000 x 94 x 1.015 = 95,410 ms; 31 x 20 x 1.015 = 629.3 ms, so tenths of a millisecond
        "muri.csv", {"muri_run_time": True}, "muri", Fraction(1, 10_000),
        [Job("0", 0, 4, 954_100, model="bert"), Job("1", 15_000, 1, 6293, model="dqn")],
    ),
    (  # minutes; deadlines relative to submission: 3 + 45, and the first of a soft job's, 5 + 60
        "chronus.csv", {}, "chronus", Fraction(60),
        [Job("10", 1, 1, 89, model="alexnet", user="vc_a"),
         Job("11", 3, 4, 20, 48, model="vgg16", user="vc_b"),
         Job("12", 5, 2, 30, 65, model="resnet101", user="vc_a")],
    ),
    (  # absolute deadlines in seconds, none where the cell is empty
        "elasticflow.csv", {}, "elasticflow", Fraction(1),
        [Job("6b2d-a", 100, 4, 1500, 2000, model="bert"), Job("6b2d-b", 160, 1, 300, model="gpt2")],
    ),
    (  # the same in the other repository's spelling; times aren't dates, so they aren't shifted
        "elasticflow_ddl.csv", {}, "elasticflow", Fraction(1),
        [Job("0", 7000, 1, 5644, 9000, model="cifar10"), Job("1", 7100, 8, 66, 7150, model="ncf")],
    ),
    (  # 600 / 60 = 10 s; 1000 / 7.5 = 133.333 s, and 1.5 times that (199.9995 s) after 12.5 s
        "gavel.trace", RATES, "gavel", Fraction(1, 2000),
        [Job("0", 0, 2, 20_000, model="ResNet-18 (batch size 32)"),
         Job("1", 25_000, 1, 266_666, 25_000 + 399_999, model="LM (batch size 5)")],
    ),
    (  # the seven fields of `msr` have the scale factor last; 45 / 60 = 0.75 s
        "gavel_msr.trace", RATES, "gavel", Fraction(1, 1000),
        [Job("0", 0, 1, 133_333, model="LM (batch size 5)"),
         Job("1", 6000, 2, 750, model="ResNet-18 (batch size 32)")],
    ),
    (  # from scheduled to deleted; a part of a GPU is a whole one; one type is kept, one of two is any
        "alibaba.csv", {}, "alibaba", Fraction(1),
        [Job("pod-0", 0, 1, 97), Job("pod-1", 5, 2, 93, gpu_type="T4"), Job("pod-2", 5, 1, 55)],
    ),
    (  # job 3's two partial executions (status 2 and 3) are in its first line already
        "log.swf", {}, "swf", Fraction(1),
        [Job("1", 0, 4, 100, user="3"), Job("2", 10, 8, 60), Job("3", 20, 2, 300, user="4")],
    ),
    (  # attempts of 60 s and 3600 s on 2 and then 3 GPUs; sorted, from the earliest submission
        "philly.json", {}, "philly", Fraction(1),
        [Job("application_0", 0, 1, 86_400, user="u2"), Job("application_1", 30, 3, 3660, user="u1")],
    ),
    (
        "helios.csv", {}, "helios", Fraction(1),
        [Job("1425511", 0, 1, 600, user="ua"), Job("1425512", 26, 4, 249, user="ub")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("file", "options", "format", "tick", "jobs"), EXPECTED)
@pytest.mark.parametrize("packed", [False, True])
def test_a_sample(
    tmp_path: Path, file: str, options: dict[str, Any], format: str, tick: Fraction, jobs: list[Job],
    packed: bool,
) -> None:  # fmt: skip
    """Under a name that says nothing, packed or not: the content tells."""
    content = (SAMPLES / file).read_bytes()
    stored = gzip.compress(content) if packed else content
    path = tmp_path / "thing"
    path.write_bytes(stored)
    found = read_trace(path, **options)
    assert (found.format, found.trace.tick, list(found.trace.jobs)) == (format, tick, jobs)
    assert found.sha256 == hashlib.sha256(stored).hexdigest()
    assert found.rejected == ()
    assert found.trace.name == "thing"
    assert found.trace.notes == found.notes
    assert read_trace(path, format=format, name="mine", **options).trace.name == "mine"


def test_every_format_has_a_sample() -> None:
    assert {format for _, _, format, _, _ in EXPECTED} == set(FORMATS) - {"compact"}


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("chronus.csv", {}, "1 of 3 jobs: has several soft deadlines; the first"),
        ("gavel.trace", RATES, "1 of 2 jobs: has a weight other than 1"),
        ("alibaba.csv", {}, "1 of 3 jobs: asks for a part of a GPU"),
        ("alibaba.csv", {}, "1 of 3 jobs: may run on several types"),
        ("log.swf", {}, "1 of 3 jobs: has no allocated processors"),
        ("philly.json", {}, "1 of 2 jobs: held different numbers of GPUs"),
        ("philly.json", {}, "1 of 2 jobs stood behind later ones; sorted by submission."),
        ("philly.json", {}, "Times count from 2017-10-07 01:11:09"),
        ("helios.csv", {}, "Times count from 2020-06-09 18:41:01"),
    ],
)
def test_what_was_assumed_is_counted(file: str, options: dict[str, Any], words: str) -> None:
    assert any(note.startswith(words) for note in read_trace(SAMPLES / file, **options).notes)


def test_muri_says_which_duration_it_has() -> None:
    column = read_trace(SAMPLES / "muri.csv").trace.duration_means
    simulated = read_trace(SAMPLES / "muri.csv", muri_run_time=True).trace.duration_means
    assert "the column duration" in column
    assert "x 1.015" in simulated
    assert "milliseconds" in column


def test_pods_without_a_scheduled_time_include_waiting(tmp_path: Path) -> None:
    """Older columns: creation and deletion alone, 100 - 0 s with the wait in it, and a note."""
    (tmp_path / "a").write_text("name,num_gpu,gpu_milli,creation_time,deletion_time\np,1,1000,0,100\n")
    found = read_trace(tmp_path / "a")
    assert found.trace.jobs == (Job("p", 0, 1, 100),)
    assert "includes waiting" in found.notes[0]


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("gavel.trace", {}, "expected a file of rates with it (throughputs)"),
        ("tiresias.csv", RATES, "throughputs is for Gavel, this is Tiresias"),
        ("tiresias.csv", {"muri_run_time": True}, "muri_run_time is for Muri, this is Tiresias"),
        ("gavel.trace", {"throughputs": SAMPLES / "philly.json"}, "philly.json: this is no file of rates"),
        ("gavel.trace", {"throughputs": SAMPLES / "none.json"}, "none.json: the file can't be read"),
        ("tiresias.csv", {"format": "trace"}, "There is no format 'trace', expected one of compact, philly"),
        ("tiresias.csv", {"format": "chronus"}, "line 1: the column 'expect_time_list' is missing"),
        ("tiresias.csv", {"format": "philly"}, "tiresias.csv: this is no JSON list"),
        ("tiresias.csv", {"format": "swf"}, "tiresias.csv line 1: 1 fields, expected 18."),
        ("tiresias.csv", {"format": "gavel", **RATES}, "line 1: 1 fields between tabs, expected 10 or 7."),
        ("tiresias.csv", {"format": "compact"}, "line 1: the first line is no head"),
    ],
)
def test_options_that_dont_fit(file: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(SchedulingError, match=r"\.$") as refused:
        read_trace(SAMPLES / file, **options)
    assert words in str(refused.value)
