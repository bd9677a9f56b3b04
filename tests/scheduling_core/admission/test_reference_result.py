"""A frozen result guards refactoring: the same seeds give the same schedules, hash for hash.

The hashes stand for no truth of their own; that these schedules are valid and what they come to is tested
elsewhere. Whoever changes an algorithm on purpose writes the file anew and says so:

    python tests/scheduling_core/admission/test_reference_result.py
"""

import json
from pathlib import Path
from typing import Any

from scheduling_core.admission.attempts import TICKS_PER_HOUR
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search import Goal, Measure, Resource, search
from scheduling_core.admission.search.problem import problem_of
from scheduling_core.admission.synthetic import generate

REFERENCE = Path(__file__).with_name("reference_result.json")
GOALS = [
    Goal(Resource.RAM),
    Goal(Resource.IMAGES),
    Goal(Resource.IMAGES, Measure.HOURS),
    Goal(Resource.SLOTS),
]


def result() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, attempts, slots in (("tmax-like", 120, 8), ("deepswe-like", 130, 8)):
        workload = generate(kind, attempts, 1)
        first = fifo(workload, Limits(slots), Policy.ACTIVE)
        deadline = metrics(workload, first).makespan
        found[kind] = {
            "workload": workload.sha256, "deadline_h": deadline / TICKS_PER_HOUR, "fifo": first.sha256,
        }  # fmt: skip
        for goal in GOALS:
            problem = problem_of(workload, goal, Policy.ACTIVE, Limits(slots, deadline=deadline))
            made = search(problem, seed=1, budget=400_000, chains=2)
            found[kind][str(goal)] = {"schedule": made.schedule.sha256, "value": made.value}
    return found


def test_the_same_seeds_give_the_schedules_that_they_gave() -> None:
    assert result() == json.loads(REFERENCE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    REFERENCE.write_text(json.dumps(result(), indent=1) + "\n", encoding="utf-8")
