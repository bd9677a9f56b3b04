"""Bounds and search against every list of small projects, and against the known optima of PSPLIB."""

import csv
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from rcpsp_projects import projects, shortest

from scheduling_core.compiled import plain_form
from scheduling_core.errors import CertificateError, SchedulingError
from scheduling_core.rcpsp import deadlines, kernels
from scheduling_core.rcpsp.bounds import Bound, critical_path, lower_bound, resource_area
from scheduling_core.rcpsp.project import Project, ProjectError
from scheduling_core.rcpsp.readers import read_project
from scheduling_core.rcpsp.search import search
from scheduling_core.rcpsp.validate import faults


def test_optima_by_hand(disjoint: Path, area: Path) -> None:
    """6 and 8, as worked out in conftest.py, and so are the bounds."""
    first, second = read_project(disjoint), read_project(area)
    assert (critical_path(first), resource_area(first)) == (4, 5)
    assert lower_bound(first, 8) == Bound(6, "refuted deadline")
    assert lower_bound(second, 9) == Bound(8, "resource area")
    for project, optimum in ((first, 6), (second, 8)):
        found = search(project, 100, seed=1)
        assert (found.makespan, found.proved_optimal) == (optimum, True)
        assert found.schedules < 100, "the bound was met, and more is needless"


@settings(max_examples=80)
@given(project=projects())
def test_small_projects_are_solved_and_no_bound_passes_the_optimum(project: Project) -> None:
    optimum = shortest(project)
    assert lower_bound(project, project.horizon).makespan <= optimum
    found = search(project, 300, seed=1)
    assert found.makespan == optimum
    assert faults(project, found.starts) == []


@settings(max_examples=25)
@given(project=projects(9))
def test_both_forms_give_the_same(project: Project) -> None:
    bound = lower_bound(project, project.horizon)
    assert lower_bound(project, project.horizon, plain_form(deadlines)) == bound
    loose = Bound(0, "none")  # so that the whole budget is spent
    compiled = search(project, 150, 7, loose)
    assert search(project, 150, 7, loose, plain_form(kernels)) == compiled
    assert search(project, 150, 7, loose) == compiled, "and again"


def test_a_larger_project_in_both_forms(shared: Path) -> None:
    project = read_project(shared / "data/psplib/j30/J30_13_1.dzn")
    bound = Bound(0, "none")
    results = [
        search(project, 400, seed, bound, m) for m in (kernels, plain_form(kernels)) for seed in (1, 2)
    ]
    assert results[:2] == results[2:]
    assert results[0].starts != results[1].starts, "another seed, another search"


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 50, 51])
def test_every_pass_counts_as_a_schedule(area: Path, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where schedules are generated. A bound of 0 is met by nothing."""
    module = plain_form(kernels)
    generate, calls = module.generate, []
    monkeypatch.setattr(module, "generate", lambda *a: calls.append(1) or generate(*a))
    found = search(read_project(area), budget, 1, Bound(0, "none"), module)
    assert found.schedules == len(calls) == budget
    assert not found.proved_optimal, "8 is optimal, which a bound of 0 doesn't show"


def test_a_bound_that_is_none_is_found_out(area: Path) -> None:
    """A lie about the bound stops the search at once, and is said not to hold."""
    project = read_project(area)
    with pytest.raises(CertificateError, match=r"^A makespan of [89] is below the bound, 10\.$"):
        search(project, 100, 1, Bound(10, "hearsay"))
    with pytest.raises(CertificateError, match=r"^The bound is 13, though the jobs in turn take 12\.$"):
        search(project, 100, 1, Bound(13, "hearsay"))


def test_what_is_refused(area: Path) -> None:
    project = read_project(area)
    with pytest.raises(SchedulingError, match=r"^The budget is 0 schedules, expected at least 1\.$"):
        search(project, 0, 1)
    with pytest.raises(SchedulingError, match=r"^The seed is -1, expected at least 0\.$"):
        search(project, 1, -1)
    with pytest.raises(ProjectError, match=r"^There are no jobs, expected at least one\.$"):
        Project((), (), (), ())
    with pytest.raises(ProjectError, match=r"^There are demands of 1 jobs, expected 2\.$"):
        Project((1, 1), ((),), (), ((), ()))


def test_work_beyond_64_bits_proves_nothing_false() -> None:
    """Two jobs that take 1 of a capacity near 2^61 run side by side; 5 times it, in 64 bits, is negative."""
    large = (1 << 61) - 1
    project = Project((4, 4), ((1,), (1,)), (large,), ((), ()))
    assert lower_bound(project, 8) == Bound(4, "critical path")
    assert search(project, 10, 1).makespan == 4


def test_jobs_that_take_no_time_or_nothing() -> None:
    assert search(Project((0, 0), ((), ()), (), ((1,), ())), 10, 1).makespan == 0
    assert search(Project((2, 3), ((0,), (0,)), (0,), ((), ())), 10, 1).makespan == 3


@pytest.mark.oracle
def test_gaps_on_psplib(shared: Path) -> None:
    """The 120 j30 instances, whose optima are known: mean over seeds 1 to 5 of the mean gap, in percent."""
    with open(shared / "data/psplib/j30_optima.csv", newline="") as stream:
        optima = {row["instance"]: int(row["optimal_makespan"]) for row in csv.DictReader(stream)}
    projects = {name: read_project(shared / f"data/psplib/j30/{name}.dzn") for name in optima}
    assert len(projects) == 120
    bounds = {name: lower_bound(p, p.horizon) for name, p in projects.items()}
    assert all(bounds[name].makespan <= optimum for name, optimum in optima.items())
    gaps = {}
    for budget in (1_000, 5_000, 50_000):
        shares = []
        for seed in range(1, 6):
            for name, project in projects.items():
                found = search(project, budget, seed, bounds[name])
                assert found.makespan >= optima[name]
                assert found.schedules <= budget
                shares.append(found.makespan / optima[name] - 1)
        gaps[budget] = 100 * fmean(shares)
    print(gaps)
    assert gaps[1_000] <= 0.40
    assert gaps[5_000] <= 0.22
    assert gaps[50_000] <= 0.05
