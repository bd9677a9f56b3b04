"""Readers of .sm and .dzn: the same instance gives the same project, and bad input its line."""

from pathlib import Path

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.readers import read_project

# As the comment of conftest.py says, numbered from 0.
DISJOINT = Project((3, 2, 2, 1), ((2, 0), (2, 0), (1, 1), (2, 1)), (3, 1), ((3,), (), (), ()))


def test_both_formats_give_the_same_project(disjoint: Path, disjoint_dzn: Path) -> None:
    assert read_project(disjoint) == DISJOINT
    assert read_project(disjoint_dzn) == DISJOINT


def test_line_ends_and_byte_order_marks_change_nothing(disjoint: Path, disjoint_dzn: Path) -> None:
    for path in (disjoint, disjoint_dzn):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
        assert read_project(path) == DISJOINT


def test_a_first_job_that_does_something_is_kept(disjoint: Path) -> None:
    disjoint.write_text(
        disjoint.read_text().replace("  1      1     0       0    0", "  1      1     5       0    0")
    )
    project = read_project(disjoint)
    assert project.durations == (5, 3, 2, 2, 1), "the sink is left out, the first job isn't"
    assert project.successors == ((1, 2, 3), (4,), (), (), ())


def test_ranges_and_comments_of_minizinc(area: Path) -> None:
    area.write_text(area.read_text().replace("{4}, {}", "2..4, {}  % all others\n"))
    assert read_project(area).successors[0] == (1, 2, 3)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("   3        1          1           6", "   3        1          2           6",
         "disjoint.sm, line 21: job 3 names 1 successors, expected the 2 it says."),
        ("   3        1          1           6", "   3        1          1           9",
         "disjoint.sm, line 21: Job 3 comes before job 9, expected one of 1 to 6."),
        ("   5        1          1           6", "   5        1          1           2",
         "disjoint.sm, line 20: Job 2 waits on a cycle of precedence, expected none."),
        ("   3        1  ", "   3        2  ", "disjoint.sm, line 21: job 3 has 2 modes, expected 1."),
        ("   6        1          0\n", "",
         "disjoint.sm, line 24: the precedence ends after 5 jobs, expected 6."),
        ("  3      1     2       2    0", "  3      1     2       4    0",
         "disjoint.sm, line 31: Job 3 takes 4 of resource 1, expected between 0 and its 3."),
        ("  3      1     2       2    0", "  3      1    -2       2    0",
         "disjoint.sm, line 31: Job 3 lasts -2, expected at least 0."),
        ("  3      1     2       2    0", "  3      1     2.5     2    0",
         "disjoint.sm, line 31: '2.5' isn't a whole number of at most 18 digits."),
        ("  3      1     2       2    0", "  3      1     2       2",
         "disjoint.sm, line 31: expected job 3, mode 1, its duration and 2 demands."),
        ("    3    1\n****", "    3\n****", "disjoint.sm, line 38: there are 1 capacities, expected 2."),
        ("nonrenewable              :  0", "nonrenewable              :  2",
         "disjoint.sm, line 10: there are nonrenewable resources, expected only renewable ones."),
        ("projects                      :  1", "projects                      :  2",
         "disjoint.sm, line 5: there are 2 projects, expected 1."),
        ("REQUESTS/DURATIONS:", "", "disjoint.sm has no section REQUESTS/DURATIONS, expected one."),
        ("jobs (incl", "work (incl", "disjoint.sm has no line 'jobs : ...', expected one."),
    ],
)  # fmt: skip
def test_bad_sm_gets_its_line(disjoint: Path, old: str, new: str, sentence: str) -> None:
    text = disjoint.read_text()
    assert text.count(old) == 1
    disjoint.write_text(text.replace(old, new))
    with pytest.raises(SchedulingError) as caught:
        read_project(disjoint)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("d = [ 3, 2, 2, 1 ]", "d = [ 3, 2, 2 ]",
         "disjoint.dzn, line 4: d isn't a list of 4 whole numbers, as is expected."),
        ("d = [ 3, 2, 2, 1 ]", "d = [ 3, 2, 2.0, 1 ]",
         "disjoint.dzn, line 4: '.' isn't expected in the data of an instance."),
        ("d = [ 3, 2, 2, 1 ]", "d = [ 3, 2 2, 1 ]", "disjoint.dzn, line 4: there is '2', expected ]."),
        ("d = [ 3, 2, 2, 1 ]", "d = [ 3, 2, -2, 1 ]",
         "disjoint.dzn, line 4: Job 3 lasts -2, expected at least 0."),
        ("| 0, 0, 1, 1 |]", "| 0, 0, 1, 2 |]",
         "disjoint.dzn, line 6: Job 4 takes 2 of resource 2, expected between 0 and its 1."),
        ("| 0, 0, 1, 1 |]", "| 0, 0, 1 |]",
         "disjoint.dzn, line 5: rr isn't 2 rows of 4 whole numbers, as is expected."),
        ("        {  },\n        {  } ]", "        { 7 },\n        {  } ]",
         "disjoint.dzn, line 9: Job 3 comes before job 7, expected one of 1 to 4."),
        ("        {  } ]", "        { 1 } ]",
         "disjoint.dzn, line 7: Job 1 waits on a cycle of precedence, expected none."),
        ("rc = [ 3, 1 ];\n", "", "disjoint.dzn gives no rc, expected all of "
         "['d', 'n_res', 'n_tasks', 'rc', 'rr', 'suc']."),
        ("n_res = 2;", "n_res = 2; n_res = 2;",
         "disjoint.dzn, line 1: n_res is given a second time, expected once."),
        ("n_res = 2;", "lag = 2;", "disjoint.dzn, line 1: there is 'lag', expected only "
         "['d', 'n_res', 'n_tasks', 'rc', 'rr', 'suc']."),
        ("        {  } ];\n", "        {  }",
         "disjoint.dzn, line 10: there is 'the end of the file', expected ]."),
        ("n_tasks = 4", "n_tasks = 0",
         "disjoint.dzn, line 4: d isn't a list of 0 whole numbers, as is expected."),
    ],
)  # fmt: skip
def test_bad_dzn_gets_its_line(disjoint_dzn: Path, old: str, new: str, sentence: str) -> None:
    text = disjoint_dzn.read_text()
    assert text.count(old) == 1
    disjoint_dzn.write_text(text.replace(old, new))
    with pytest.raises(SchedulingError) as caught:
        read_project(disjoint_dzn)
    assert str(caught.value) == sentence


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    other = tmp_path / "instance.rcp"
    with pytest.raises(SchedulingError, match=r"^instance\.rcp ends in '\.rcp', expected \.sm or \.dzn\.$"):
        read_project(other)
    with pytest.raises(SchedulingError, match=r"^none\.sm can't be read: No such file or directory\.$"):
        read_project(tmp_path / "none.sm")
    bad = tmp_path / "bad.sm"
    bad.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchedulingError, match=r"^bad\.sm isn't text in UTF-8\.$"):
        read_project(bad)
    bad.write_bytes(b"")
    with pytest.raises(SchedulingError, match=r"^bad\.sm has no line 'projects : \.\.\.', expected one\.$"):
        read_project(bad)


def test_public_instances_are_read(shared: Path) -> None:
    """j30: 30 jobs on 4 resources each, 120 files."""
    projects = [read_project(path) for path in sorted((shared / "data/psplib/j30").glob("*.dzn"))]
    assert {(len(p), len(p.capacities)) for p in projects} == {(30, 4)}
    assert len(projects) == 120
