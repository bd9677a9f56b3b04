"""No policy decides by what it isn't told; the test finds those that do. How: see `information`."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queueing_information import Change, beyond, first_difference, permute, shorten, stretch
from queueing_strategies import AGNOSTIC, ORACLES, Case, clusters, costs, traces

from scheduling_core.queueing.cluster import Cluster, homogeneous
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.policies import Policy, policy
from scheduling_core.queueing.views import Numbers, View

changes = st.one_of(
    st.integers(2, 5).map(stretch),
    st.just(shorten()),
    st.integers(0, 99).map(permute),
    st.lists(st.integers(0, 12), min_size=1, max_size=7).map(beyond),
)


@pytest.mark.parametrize("case", AGNOSTIC, ids=str)
@settings(max_examples=30)
@given(trace=traces(least=2), cluster=clusters(), cost=costs, cut=st.integers(1, 40), change=changes)
def test_no_decision_follows_from_a_duration_that_isnt_known_yet(
    case: Case, trace: Trace, cluster: Cluster, cost: RestartCost, cut: int, change: Change
) -> None:
    assert first_difference(case.policy, trace, cluster, cut, change, cost) is None


TWINS = Trace(
    "twins",
    tuple(
        Job(f"{'long' if d > 9 else 'short'}{i}", submit, 2, d, deadline=60)
        for i, (submit, d) in enumerate([(0, 15), (0, 14), (0, 3), (1, 20), (2, 2), (2, 5)])
    ),
)
"""Alike but for their durations, on GPUs for one at a time."""


@pytest.mark.parametrize("case", ORACLES, ids=str)
def test_what_reads_durations_is_found_out(case: Case) -> None:
    """The test has power: whoever is declared `oracle` decides before some cut by what comes after it."""
    found = [
        first_difference(case.policy, TWINS, homogeneous(2), cut, change)
        for cut in (1, 3, 6, 13, 25)
        for change in (stretch(3), shorten(), permute(1), beyond([9, 1]))
    ]
    assert any(found)


class Sly(Policy):
    """Isn't declared an oracle, and reads durations behind the view's back."""

    name, source = "sly", "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs[np.lexsort((view._state.duration[view.jobs],))]


def srtf() -> Policy:
    return policy("srtf")


def longer(jobs: Sequence[Job], least: Sequence[int]) -> list[int]:
    """short2 runs for 60 ticks."""
    return [60 if job.id == "short2" else job.duration for job in jobs]


@pytest.mark.parametrize("make", [srtf, Sly])
def test_a_difference_says_where_it_is(make: type[Policy]) -> None:
    """Shortest first begins with the 3 ticks of short2; were they 60, it would begin with the 14 of long1."""
    assert first_difference(make, TWINS, homogeneous(2), 1, longer) == (
        "before 1: [(Fraction(0, 1), 'short2,start,')], with other durations "
        "[(Fraction(0, 1), 'long1,start,')]"
    )
