"""What can't be a job: one sentence with file and line, and the rows around it stay."""

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats import read_trace

SAMPLES = Path(__file__).parent / "samples"
HEAD = "job_id,num_gpu,submit_time,duration"
SWF = " -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1"
POD = "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time"
LOG = "job_id,gpu_num,node_num,submit_time,duration"
DUE = "job_id,submission_time,duration,num_gpu,deadline"
CHRONUS = "job_id,num_gpu,submit_time,duration,expect_time_list,job_type"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}\n1,1,0,-3", "line 2: duration is '-3', expected seconds above 0."),
        (f"{HEAD}\n1,1,0,0", "line 2: duration is '0', expected seconds above 0."),
        (f"{HEAD}\n1,1,0,nan", "line 2: duration is 'nan', expected seconds above 0."),
        (f"{HEAD}\n1,1,inf,5", "line 2: submit_time is 'inf', expected seconds from 0."),
        (f"{HEAD}\n1,1,-1,5", "line 2: submit_time is '-1', expected seconds from 0."),
        (f"{HEAD}\n1,0,0,5", "line 2: num_gpu is '0', expected a whole number from 1."),
        (f"{HEAD}\n1,-2,0,5", "line 2: num_gpu is '-2', expected a whole number from 1."),
        (f"{HEAD}\n1,1.5,0,5", "line 2: num_gpu is '1.5', expected a whole number from 1."),
        (f"{HEAD}\n1,,0,5", "line 2: num_gpu is '', expected a whole number from 1."),
        (f"{HEAD}\n,1,0,5", "line 2: job_id is empty, expected a text."),
        (f"{HEAD}\n\n1,1,0,1e16", "line 3: duration is '1e16', expected seconds above 0, at most 1e+15."),
        (
            f"{HEAD}\n1,1,0,0.1234567890123",
            "line 2: duration is '0.1234567890123', expected seconds above 0 with at most 12 decimals.",
        ),
        (f"{HEAD}\n1,1,0", "line 2: 3 cells, expected 4."),
        (f'{HEAD}\n1,1,0,"5', "line 2: the quotes are wrong (unexpected end of data)."),
        (f"{HEAD}\n7,1,0,5\n7,1,1,5", "line 3: job '7' stands at FILE line 2 too, expected each id once."),
        (f"{HEAD}\n", "there are 0 jobs, expected at least one."),
        (
            "job_id,num_gpu,submit_time\n1,1,0",
            "line 1: the column 'duration' is missing, expected job_id, num_gpu, submit_time, duration.",
        ),
        (f"{HEAD},job_id\n1,1,0,5,1", "line 1: the column 'job_id' stands twice, expected each once."),
        ("switches,nodes\n1,32", "line 1: 'switches,nodes' begins no trace that is known, expected "),
        ('{"a": 1}', """line 1: '{"a": 1}' begins no trace that is known, expected """),
        ("PK\3\4\n", "line 1: 'PK\\x03\\x04' begins no trace that is known, expected "),
        (" \n\n", "the file is empty, expected a trace."),
        (
            f"{HEAD}\n1,1,999999999999,5\n2,1,0,0.00000001",
            "line 3: a time here has so many decimals that the longest of the file doesn't fit 64 bits",
        ),
        (f"{DUE}\n1,60,10,1,50", "line 2: the deadline is 50, expected after the submission at 60."),
        (f"{DUE}\n1,60,10,1,60", "line 2: the deadline is 60, expected after the submission at 60."),
        (f"{DUE}\n1,60,10,1,nan", "line 2: deadline is 'nan', expected seconds from 0."),
        (f"{CHRONUS}\n1,1,0,5,0,strict", "line 2: expect_time_list is '0', expected minutes above 0."),
        (f"{CHRONUS}\n1,1,0,5,9,hard", "line 2: job_type is 'hard', expected strict, soft or best."),
        (f"{LOG}\n1,1,1,2020-13-01 00:00:00,5", "line 2: submit_time is '2020-13-01 00:00:00', expected"),
        (f"{LOG}\n1,0,1,2020-12-01 00:00:00,5", "line 2: gpu_num is '0', expected a whole number from 1."),
        (f"{POD}\np,1,1000,5,9,", "line 2: scheduled_time is empty, so the pod never ran; expected a time."),
        (f"{POD}\np,1,1000,5,9,9", "line 2: deletion_time is '9' with a start at 9 and a creation at 5"),
        (f"{POD}\np,2,500,5,9,6", "line 2: gpu_milli is 500 for 2 GPUs, expected 1000."),
        (f"; x\n1 0 -1 -1 4{SWF}", "line 2: the run time (field 4) is '-1', expected seconds above 0."),
        (f"; x\n1 0 -1 5 -1{SWF}", "line 2: requested processors (field 8) is '-1', expected a whole number"),
        (f"; x\n1 0 -1 5 0{SWF}", "line 2: processors (field 5) is '0', expected a whole number from 1."),
        ("; x\n1 0 -1 5 4", "line 2: 5 fields, expected 18."),
        (
            "; x\n1 0 -1 5 4 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1 -1",
            "line 2: job 1 has lines for its parts alone, expected one for the whole.",
        ),
        ("[]", "there are 0 jobs, expected at least one."),
        ("[\n3]", "line 2: this is 3, expected a job with submitted_time."),
        ("[{}\n,", "line 1: this is an object, expected a job with submitted_time."),
        (
            '[{"submitted_time": "2017-10-07 01:11:39", "attempts": []}]',
            "line 1: the job has no attempts, so it never ran; expected at least one.",
        ),
        (
            '[\n\n{"submitted_time": "", "attempts": [{"start_time": "2017-10-07 01:11:39"}]}]',
            "line 3: attempt 1: end_time is None, expected a date such as 2017-10-07 01:11:39.",
        ),
    ],
)  # fmt: skip
def test_one_sentence_with_the_line(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "FILE"
    path.write_text(text)
    with pytest.raises(SchedulingError) as refused:
        read_trace(path)
    told = str(refused.value)
    assert told.startswith(f"FILE {sentence}" if sentence.startswith("line") else f"FILE: {sentence}")
    assert "\n" not in told
    assert told.endswith(".")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "FILE"
    path.write_bytes(f"{HEAD}\na,1,0,5\n".encode() + b"\xff,1,0,5\n" + b"b,1,0,5\n")
    with pytest.raises(SchedulingError, match=r"FILE line 3: this isn't UTF-8, expected text\."):
        read_trace(path)
    found = read_trace(path, skip_bad=True)
    assert [job.id for job in found.trace.jobs] == ["a", "b"]
    assert [(item.where, item.raw) for item in found.rejected] == [("FILE line 3", "\\xff,1,0,5")]
    path.write_bytes(HEAD.encode("utf-16"))
    with pytest.raises(SchedulingError, match=r"FILE line 1: this isn't UTF-8"):
        read_trace(path)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(SchedulingError, match=r"none\.csv: the file can't be read: No such file"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(SchedulingError, match="the file can't be read"):
        read_trace(tmp_path)


def test_mixed_trouble_keeps_the_good_rows(tmp_path: Path) -> None:
    """Every kind at once: what is kept is what stood alone without it, sorted, and each other row is told."""
    good = ["a,1,5,10", "b,2,3,10", "c,4,9,10.5"]
    bad = ["d,0,1,1", "e,1,1,-1", "f,1,nan,1", "a,1,7,1", "g,1,1", 'h,1,1,"1', "i,x,1,1", ",1,1,1"]
    rows = [good[0], *bad[:3], good[1], *bad[3:6], good[2], *bad[6:]]
    path = tmp_path / "FILE"
    path.write_text("\n".join([HEAD, *rows]))
    found = read_trace(path, skip_bad=True)
    assert [(job.id, job.submit, job.duration) for job in found.trace.jobs] == [
        ("b", 6, 20), ("a", 10, 20), ("c", 18, 21),
    ]  # fmt: skip
    assert [item.raw for item in found.rejected] == bad
    assert [item.where for item in found.rejected] == [f"FILE line {n}" for n in (3, 4, 5, 7, 8, 9, 11, 12)]
    assert all(item.reason.startswith(f"{item.where}: ") for item in found.rejected)
    assert found.notes[-2:] == (
        "1 of 3 jobs stood behind later ones; sorted by submission.",
        "8 of 11 records are set aside as bad.",
    )


def test_only_bad_rows_are_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "FILE"
    path.write_text(f"{HEAD}\n1,0,0,5\n")
    with pytest.raises(
        SchedulingError, match=r"there are 0 jobs, none can be read; FILE line 2: num_gpu is '0'"
    ):
        read_trace(path, skip_bad=True)


def test_a_broken_list_keeps_the_jobs_before(tmp_path: Path) -> None:
    """JSON has no lines to go on from: what follows the fault is one rejected record."""
    first, second = json.loads((SAMPLES / "philly.json").read_text())
    path = tmp_path / "FILE"
    path.write_text(f"[{json.dumps(first)},\n{json.dumps({**second, 'jobid': ''})},\n{{nonsense")
    found = read_trace(path, skip_bad=True)
    assert [job.id for job in found.trace.jobs] == ["application_1"]
    assert [(item.where, item.reason.partition(": ")[2]) for item in found.rejected] == [
        ("FILE line 2", "jobid is '', expected a text."),
        ("FILE line 3", "this is no JSON from here on, expected jobs up to a ]."),
    ]


def test_an_archive_that_is_cut(tmp_path: Path) -> None:
    """Lines that came through whole stay; the last one may lack its end."""
    rows = [f"{n},{1 + n % 8},{n},{random.Random(n).randrange(1, 10**9)}" for n in range(5000)]
    path = tmp_path / "FILE"
    path.write_bytes(gzip.compress("\n".join([HEAD, *rows]).encode())[:-9000])
    with pytest.raises(SchedulingError, match=r"FILE line \d+: the gzip archive is cut here"):
        read_trace(path)
    found = read_trace(path, skip_bad=True)
    assert 0 < len(found.trace) < len(rows)
    assert len(found.rejected) == 1
    assert [job.id for job in found.trace.jobs] == [str(n) for n in range(len(found.trace))]


def test_comments_of_a_log_may_be_in_any_encoding(tmp_path: Path) -> None:
    """Old logs of the archive name their owners in Latin-1."""
    path = tmp_path / "FILE"
    path.write_bytes("; Installation: Universität\n".encode("latin-1") + f"1 0 -1 5 4{SWF}\n".encode())
    assert [job.gpus for job in read_trace(path).trace.jobs] == [4]


BAD_ROWS = ["x,0,1,1", "y,1,1,0", "z,1,1,nan", "too,few", ",1,1,1", '"', "w,1e999,1,1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    rows=st.lists(st.tuples(st.integers(1, 64), st.integers(0, 10**6), st.integers(1, 10**6)), min_size=1),
    bad=st.lists(st.tuples(st.integers(0, 100), st.sampled_from(BAD_ROWS)), min_size=1, max_size=5),
)
def test_bad_rows_change_nothing_else(
    tmp_path: Path, rows: list[tuple[int, int, int]], bad: list[tuple[int, str]]
) -> None:
    """A file with bad rows put in gives the jobs of the file without them; unskipped, the first is named."""
    lines = [f"{n},{gpus},{submit},{length}" for n, (gpus, submit, length) in enumerate(rows)]
    clean, dirty = tmp_path / "clean", tmp_path / "dirty"
    clean.write_text("\n".join([HEAD, *lines]))
    for place, row in bad:
        lines.insert(place % (len(lines) + 1), row)
    dirty.write_text("\n".join([HEAD, *lines]))
    found = read_trace(dirty, skip_bad=True)
    assert found.trace.jobs == read_trace(clean).trace.jobs
    assert [item.raw for item in found.rejected] == [line for line in lines if line in BAD_ROWS]
    first = next(n for n, line in enumerate(lines, 2) if line in BAD_ROWS)
    with pytest.raises(SchedulingError, match=rf"^dirty line {first}: "):
        read_trace(dirty)
