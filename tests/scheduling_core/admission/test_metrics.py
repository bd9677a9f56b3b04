"""The accounts of a schedule, worked by hand."""

from fractions import Fraction

import pytest
from admission_cases import GIB, attempt, per_tick, schedules, workload, workloads
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.images import StoreUse
from scheduling_core.admission.metrics import Metrics, ServiceUse, Use, metrics, saved_share, use_of
from scheduling_core.admission.schedule import Limits, Policy, schedule_of

# a: setup [2, 5), model [5, 15), tool [15, 17).
# b, released at 1: setup [5, 6), model [6, 10), verifier [10, 14).
TWO = workload(
    attempt("a", "setup 3 model 10 tool 2"),
    attempt(
        "b", "setup 1 model 4 verifier 4", cpu_milli=500, ram_kib=GIB, release=1, image="j", image_kib=GIB
    ),
)
STARTS = [2, 5]


def test_whole_admission() -> None:
    """a runs for 15 ticks and b for 9, in [5, 14) both."""
    found = metrics(TWO, schedule_of(TWO, STARTS, Policy.WHOLE, Limits(2)))
    assert found == Metrics(
        attempts=2,
        makespan=17,
        wait_sum=2 + 4,
        wait_p95=4,
        wait_max=4,
        slots=Use(2, 15 + 9),
        cpu=Use(1500, 1000 * 15 + 500 * 9),
        ram=Use(3 * GIB, 2 * GIB * 15 + GIB * 9),
        disk=Use(20 * GIB, 10 * GIB * (15 + 9)),
        parked=Use(0, 0),
        images=StoreUse(4 * GIB, 3 * GIB * 15 + GIB * 9, 2),
        # Requests in [5, 15) and [6, 10).
        service=ServiceUse(peak_requests=2, request_ticks=14, busy_ticks=10, first=5, last=15),
    )
    assert found.service.gpu_ticks == 8 * 10


def test_active_only() -> None:
    """RAM: a in [2, 5) and [15, 17), b in [5, 6) and [10, 14): never both; parked: a [5, 15), b [6, 10)."""
    whole = metrics(TWO, schedule_of(TWO, STARTS, Policy.WHOLE, Limits(2)))
    found = metrics(TWO, schedule_of(TWO, STARTS, Policy.ACTIVE, Limits(2)))
    assert found.cpu == Use(1000, 1000 * 5 + 500 * 5)
    assert found.ram == Use(2 * GIB, 2 * GIB * 5 + GIB * 5)
    assert found.parked == Use(3 * GIB, 2 * GIB * 10 + GIB * 4)
    assert (found.slots, found.disk, found.images, found.service) == (
        whole.slots, whole.disk, whole.images, whole.service,
    )  # fmt: skip


def test_gpu_hours_count_idle_gaps_and_busy_time_does_not() -> None:
    of = workload(attempt("a", "model 2 tool 6 model 2"))
    service = metrics(of, schedule_of(of, [3], Policy.WHOLE, Limits(1))).service
    assert (service.busy_ticks, service.gpu_ticks) == (4, 8 * 10)


def test_without_requests_the_service_has_no_first_and_no_last() -> None:
    of = workload(attempt("a", "tool 2"))
    found = metrics(of, schedule_of(of, [0], Policy.WHOLE, Limits(1)))
    assert (found.service.first, found.service.last, found.service.gpu_ticks) == (None, None, 0)
    assert not {"service_first", "service_last"} & found.integers().keys()


@pytest.mark.parametrize(("n", "expected"), [(1, 0), (19, 18), (20, 18), (21, 19), (40, 37), (100, 94)])
def test_p95_is_the_nearest_rank(n: int, expected: int) -> None:
    """Waits 0..n-1: the ceil(0.95 n)-th of them, counted from 1: 1, 19, 19, 20, 38, 95."""
    of = workload(*(attempt(f"a{k}", "setup 1") for k in range(n)))
    made = schedule_of(of, list(reversed(range(n))), Policy.WHOLE, Limits(n))
    assert metrics(of, made).wait_p95 == expected


def test_the_table_tells_hours_cores_and_gib() -> None:
    """An hour of 1 core, 2 GiB and 10 GiB of disk, half of it in a model call, from half an hour on."""
    of = workload(attempt("a", "setup 18000 model 18000"))
    table = metrics(of, schedule_of(of, [18_000], Policy.ACTIVE, Limits(1))).table()
    assert table == {
        "attempts": 1, "makespan_h": 1.5, "wait_mean_s": 1800.0, "wait_p95_s": 1800.0, "wait_max_s": 1800.0,
        "slots_peak": 1, "slot_hours": 1.0, "cpu_peak_cores": 1.0, "cpu_core_hours": 0.5, "ram_peak_gib": 2.0,
        "ram_gib_hours": 1.0, "disk_peak_gib": 10.0, "disk_gib_hours": 10.0, "parked_peak_gib": 2.0,
        "parked_gib_hours": 1.0, "image_peak_gib": 3.0, "image_gib_hours": 3.0, "image_loads": 1,
        "request_hours": 0.5, "service_busy_hours": 0.5, "service_peak_requests": 1, "service_gpu_hours": 4.0,
    }  # fmt: skip
    nobody = metrics(workload(), schedule_of(workload(), [], Policy.WHOLE, Limits(1))).table()
    assert nobody["wait_mean_s"] is None


def test_half_open_intervals_that_touch_do_not_add_up() -> None:
    assert use_of([(0, 5, 2), (5, 9, 3)]) == Use(3, 22)


def test_the_share_saved_by_active_only() -> None:
    """RAM: (2 x 10 + 1 x 4) of (2 x 15 + 1 x 9); CPU: (1000 x 10 + 500 x 4) of (1000 x 15 + 500 x 9)."""
    assert saved_share(TWO) == Fraction(24, 39)
    assert saved_share(TWO, "cpu") == Fraction(12_000, 19_500)
    assert saved_share(workload()) == 0


@given(st.data())
def test_they_are_what_a_look_at_every_tick_finds(data: st.DataObject) -> None:
    of = data.draw(workloads())
    made = data.draw(schedules(of))
    assert metrics(of, made).integers() == per_tick(of, made)
