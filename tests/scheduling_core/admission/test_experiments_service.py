"""The service's models: fixed latencies where nothing is scarce, queueing theory where something is."""

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev

import pytest
import vl_convert
from admission_cases import attempt, schedules, workload, workloads
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.disciplines import InOrder, baselines
from scheduling_core.admission.experiments.reactive import admit
from scheduling_core.admission.experiments.served import Call, serve, serve_planned
from scheduling_core.admission.experiments.service import run, swaps
from scheduling_core.admission.experiments.service_models import (
    Servers,
    Service,
    Sharing,
    processor_sharing,
)
from scheduling_core.admission.formats import Assumptions, read_workload
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy, schedule_of
from scheduling_core.admission.validate import validate
from scheduling_core.errors import SchedulingError

UNLIMITED: tuple[Service, ...] = (
    Servers(None),
    Servers(9),  # as many as attempts are drawn at the most
    processor_sharing(9),
    Sharing(((3, 3000), (9, 9000))),
)


@settings(max_examples=50)
@given(workloads(most=8), st.integers(1, 4), st.sampled_from(UNLIMITED), st.data())
def test_where_nothing_is_scarce_latencies_are_the_logged_ones(
    of: Workload, slots: int, service: Service, data: st.DataObject
) -> None:
    """Starts, and every segment's length, tick for tick, under every baseline."""
    discipline = data.draw(st.sampled_from(baselines(of, aging=2, skips=1)))
    found = serve(of, Limits(slots), discipline, service)
    assert found.schedule.starts == admit(of, Limits(slots), discipline).starts
    assert found.workload.attempts == of.attempts
    assert all(call.response == call.work for call in found.calls)
    assert len(found.calls) == sum(kind == "model" for a in of.attempts for kind, _ in a.segments)


@settings(max_examples=50)
@given(st.data(), st.sampled_from(UNLIMITED))
def test_a_plan_is_run_as_it_stands_where_nothing_is_scarce(data: st.DataObject, service: Service) -> None:
    """Delays on purpose, starts out of the order of arrival and equal starts included."""
    of = data.draw(workloads(most=8))
    drawn = data.draw(schedules(of))
    found = serve_planned(of, drawn, service)
    assert found.schedule.starts == drawn.starts
    assert found.workload.attempts == of.attempts


def of_calls(calls: Sequence[tuple[int, int]]) -> Workload:
    """One attempt for each call: when it comes, and its work."""
    return workload(
        *(attempt(f"a{k}", f"model {work}", release=tick) for k, (tick, work) in enumerate(calls))
    )


def answers(service: Service, calls: Sequence[tuple[int, int]]) -> list[int]:
    found = serve(of_calls(calls), Limits(max(1, len(calls))), InOrder(), service).calls
    return [call.answered for call in sorted(found, key=lambda call: call.attempt)]


def test_two_servers_by_hand() -> None:
    """Works 4 2 3 1 at 0: two at once; the third at 2 when the second ends, the fourth at 4, before the
    fifth, which comes then: it has waited for that server since 0."""
    assert answers(Servers(2), [(0, 4), (0, 2), (0, 3), (0, 1), (4, 1)]) == [4, 2, 5, 5, 6]


def test_processor_sharing_by_hand() -> None:
    """One processor. Works 4 and 2 at 0: each at half speed until 4, when the second has its 2; then the
    first alone for the 2 that are left. With a third of 1 at 2: three at a third of the speed, the second and
    third end at 5, when each has its last 1, and the first does its last 2 alone. With two processors and
    three calls, each runs at 2/3: three works of 2 end at 3."""
    one = processor_sharing(1)
    assert answers(one, [(0, 4), (0, 2)]) == [6, 4]
    assert answers(one, [(0, 4), (0, 2), (2, 1)]) == [7, 5, 5]
    assert answers(processor_sharing(2), [(0, 2), (0, 2), (0, 2)]) == [3, 3, 3]


def test_a_batching_curve_by_hand() -> None:
    """Throughput 1, 3/2 at 2 and 5/2 at 4 in flight; between, at 3, it is 2: speeds 1, 3/4, 2/3, 5/8."""
    service = Sharing(((1, 1000), (2, 1500), (4, 2500)))
    assert [service.speed(n) for n in (1, 2, 3, 4)] == [1, Fraction(3, 4), Fraction(2, 3), Fraction(5, 8)]
    assert service.speed(10) == Fraction(1, 4)  # all of 5/2, shared by ten
    assert answers(service, [(0, 3), (0, 3)]) == [4, 4]
    assert answers(service, [(0, 4), (0, 4), (0, 4)]) == [6, 6, 6]
    # Two for 4 ticks are 3 of work each; then four: the last 5 of the first two take 8 ticks.
    assert answers(service, [(0, 8), (0, 8), (4, 5), (4, 5)]) == [12, 12, 12, 12]


def in_fractions(calls: Sequence[tuple[int, int]], service: Sharing) -> list[Fraction]:
    """When each call has done its work, by what is left of each, without rounding."""
    coming = sorted(range(len(calls)), key=lambda k: calls[k][0])
    left: dict[int, Fraction] = {}
    ends = [Fraction(0)] * len(calls)
    now = Fraction(0)
    while coming or left:
        speed = service.speed(len(left)) if left else Fraction(1)
        done = now + min(left.values()) / speed if left else None
        comes = Fraction(calls[coming[0]][0]) if coming else None
        until = min(tick for tick in (done, comes) if tick is not None)
        left = {k: work - (until - now) * speed for k, work in left.items()}
        now = until
        for k in [k for k, work in left.items() if work == 0]:
            ends[k] = now
            del left[k]
        while coming and calls[coming[0]][0] == now:
            k = coming.pop(0)
            left[k] = Fraction(calls[k][1])
    return ends


CURVES = st.lists(st.integers(1, 4), min_size=1, max_size=3).flatmap(
    lambda steps: st.tuples(
        *(
            st.tuples(st.just(sum(steps[: k + 1])), st.integers(300, 1000 * sum(steps[: k + 1])))
            for k in range(len(steps))
        )
    )
)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=7), CURVES)
def test_shared_work_is_that_of_fractions(
    calls: list[tuple[int, int]], curve: tuple[tuple[int, int], ...]
) -> None:
    """Each is answered at the first whole tick at which its work is done but for the slack: a thousandth of a
    tick of work, which takes the longer the slower the service is."""
    calls = sorted(calls)
    service = Sharing(curve)
    slowest = min(service.speed(n) for n in range(1, 8))
    for found, exact in zip(answers(service, calls), in_fractions(calls, service), strict=True):
        assert math.ceil(exact - Fraction(1, 1000) / slowest) <= found <= math.ceil(exact)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=9), st.integers(1, 3))
def test_servers_work_whenever_there_is_work(calls: list[tuple[int, int]], count: int) -> None:
    """At each tick the busy servers are as many as calls are there, up to K, so all work is done and none is
    done twice; who waited longer is served first."""
    calls = sorted(calls)
    ended = answers(Servers(count), calls)
    begun = [end - work for end, (_, work) in zip(ended, calls, strict=True)]
    for tick in range(max(ended)):
        there = sum(comes <= tick < end for (comes, _), end in zip(calls, ended, strict=True))
        assert sum(b <= tick < e for b, e in zip(begun, ended, strict=True)) == min(count, there)
    assert begun == sorted(begun)


@settings(max_examples=50)
@given(workloads(least=1, most=8), st.integers(1, 4), st.data())
def test_what_is_not_a_call_keeps_its_length(of: Workload, slots: int, data: st.DataObject) -> None:
    """No call is shorter than its work, all follow each other without a gap, and slots are kept."""
    service = data.draw(st.sampled_from([Servers(1), processor_sharing(1), Sharing(((1, 600), (3, 1300)))]))
    discipline = data.draw(st.sampled_from(baselines(of, aging=2, skips=1)))
    found = serve(of, Limits(slots), discipline, service)
    for before, after in zip(of.attempts, found.workload.attempts, strict=True):
        assert [kind for kind, _ in before.segments] == [kind for kind, _ in after.segments]
        for (kind, short), (_, long) in zip(before.segments, after.segments, strict=True):
            assert long == short if kind != "model" else long >= short
    assert validate([a.row() for a in found.workload.attempts], found.schedule.row()).ok
    calls = sorted((call.attempt, call.asked, call.answered) for call in found.calls)
    at = [
        (number, tick + sum(t for _, t in a.segments[:k]), tick + sum(t for _, t in a.segments[: k + 1]))
        for number, (a, tick) in enumerate(zip(found.workload.attempts, found.schedule.starts, strict=True))
        for k, (kind, _) in enumerate(a.segments)
        if kind == "model"
    ]
    assert calls == at


def test_a_slower_service_delays_a_plan_and_keeps_its_order() -> None:
    """One server, two slots. Planned: a and b at 0, c at 4 when both end, d at 4 too. b waits for the server
    until 3 and ends at 7, so c has a's slot at 4, as planned, and d gets b's at 7."""
    calling = [attempt(name, "model 3 tool 1") for name in "ab"]
    of = workload(*calling, attempt("c", "tool 9"), attempt("d", "tool 1"))
    plan = schedule_of(of, [0, 0, 4, 4], Policy.WHOLE, Limits(2))
    assert serve_planned(of, plan, Servers(1)).schedule.starts == (0, 0, 4, 7)


def poisson(rate: float, mean: float, count: int, seed: int) -> list[tuple[int, int]]:
    """Exponential gaps and works in whole ticks; at a mean of 1,000 rounding is small beside an interval."""
    draws = random.Random(seed)
    clock, calls = 0.0, []
    for _ in range(count):
        clock += draws.expovariate(rate)
        calls.append((round(clock), max(1, round(draws.expovariate(1 / mean)))))
    return calls


def measured(service: Service, calls: Sequence[tuple[int, int]]) -> list[Call]:
    """The calls through the service alone, in the order in which they came: as `serve`, without slots."""
    state = service.begin()
    ends = [0] * len(calls)
    coming = 0
    while coming < len(calls) or state.next() is not None:
        answer = state.next()
        now = min(
            tick for tick in (answer, calls[coming][0] if coming < len(calls) else None) if tick is not None
        )
        for call in state.answered(now):
            ends[call] = now
        while coming < len(calls) and calls[coming][0] == now:
            state.ask(now, coming, calls[coming][1])
            coming += 1
    return [Call(k, asked, work, ends[k]) for k, (asked, work) in enumerate(calls)]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean's interval at 99.9 % by batch means: a tenth left out at first, 20 batches, Student's t."""
    kept = values[len(values) // 10 :]
    size = len(kept) // 20
    means = [fmean(kept[k * size : (k + 1) * size]) for k in range(20)]
    half = 3.883 * stdev(means) / math.sqrt(20)
    return fmean(means) - half, fmean(means) + half


def erlang_c(servers: int, load: float) -> float:
    """Probability that a call waits in M/M/K, load = arrival rate x mean work (A. K. Erlang, 1917)."""
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(load**k / math.factorial(k) for k in range(servers)) + last)


def test_erlang_c_is_that_of_tables() -> None:
    """M/M/1: rho of all wait. 2 Erlang on 3 servers: 4/9 (formula: Kleinrock, Queueing Systems I, 3.5)."""
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(3, 2.0) == pytest.approx(4 / 9)


MEAN = 1000.0
COUNT = 30_000


@pytest.mark.parametrize(("servers", "load"), [(1, 0.6), (4, 2.8)])
def test_waits_of_m_m_k_are_those_of_erlang(servers: int, load: float) -> None:
    """Mean wait = C(K, a) x mean work / (K - a)."""
    found = measured(Servers(servers), poisson(load / MEAN, MEAN, COUNT, seed=servers))
    low, high = interval([call.response - call.work for call in found])
    expected = erlang_c(servers, load) * MEAN / (servers - load)
    assert low < expected < high
    assert high - low < 0.6 * expected
    # The interval would tell a server more or less from this.
    assert not low < erlang_c(servers + 1, load) * MEAN / (servers + 1 - load) < high


def birth_and_death(load: float, throughput: Sequence[float]) -> float:
    """Mean calls in a service where n in flight have throughput[n - 1], over those of one, and the last for
    more: probabilities are proportional to the product of load / throughput."""
    weight, total, calls = 1.0, 1.0, 0.0
    for n in range(1, 2000):
        weight *= load / throughput[min(n, len(throughput)) - 1]
        total, calls = total + weight, calls + n * weight
    return calls / total


def test_shared_processors_respond_as_a_line_does_in_the_mean() -> None:
    """The number of calls in M/M/K is the same birth-and-death process under both, so by Little's law the
    mean response is Erlang's wait and the mean work."""
    servers, load = 4, 2.8
    found = measured(processor_sharing(servers), poisson(load / MEAN, MEAN, COUNT, seed=14))
    low, high = interval([call.response for call in found])
    expected = erlang_c(servers, load) * MEAN / (servers - load) + MEAN
    assert expected == pytest.approx(birth_and_death(load, [*range(1, servers + 1)]) / load * MEAN)
    assert low < expected < high
    assert high - low < 0.6 * expected


def test_one_shared_processor_is_insensitive_to_how_works_are_spread() -> None:
    """M/G/1 processor sharing: mean response = mean work / (1 - rho) whatever the works (Kleinrock, Queueing
    Systems II, chapter 4). A line's wait for equal works is half of that for exponential ones."""
    calls = [(tick, 1000) for tick, _ in poisson(0.6 / MEAN, MEAN, COUNT, seed=5)]
    low, high = interval([call.response for call in measured(processor_sharing(1), calls)])
    assert low < MEAN / (1 - 0.6) < high
    line = MEAN + 0.6 * MEAN / (2 * (1 - 0.6))
    assert not low < line < high


def test_a_batching_curve_responds_as_birth_and_death_says() -> None:
    """Throughput 1, 1.5, 2, 2.25, 2.5 at 1 to 5 in flight, and no more beyond; Little's law."""
    service = Sharing(((1, 1000), (3, 2000), (5, 2500)))
    found = measured(service, poisson(1.5 / MEAN, MEAN, COUNT, seed=6))
    low, high = interval([call.response for call in found])
    expected = birth_and_death(1.5, [1, 1.5, 2, 2.25, 2.5]) / 1.5 * MEAN
    assert low < expected < high
    assert high - low < 0.6 * expected


@pytest.mark.parametrize("service", [Servers(2), processor_sharing(2)])
def test_admission_does_to_open_arrivals_what_the_service_alone_does(service: Service) -> None:
    calls = poisson(1.4 / 50, 50, 400, seed=7)
    found = serve(of_calls(calls), Limits(400), InOrder(), service).calls
    assert sorted(found, key=lambda call: call.attempt) == measured(service, calls)


@pytest.fixture
def small() -> Workload:
    return workload(
        *(
            attempt(f"{image}{k}", f"setup 10 model {30 + 10 * k} tool 10 model 20", image=image, task=image)
            for k in range(3)
            for image in "xyz"
        )
    )


def test_the_experiment_ranks_whole_schedules_under_each_model(small: Workload) -> None:
    made = run(small, Limits(4), seed=1, budget=500, chains=1, servers=2)
    assert made == run(small, Limits(4), seed=1, budget=500, chains=1, servers=2)
    assert json.loads(json.dumps([made.rows, made.charts, made.parameters], allow_nan=False))
    table = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
    names = list(made.schedules)
    assert [row["schedule"] for row in table] == names * 4
    for row, name in zip(table, names, strict=False):
        assert validate([a.row() for a in small.attempts], made.schedules[name].row()).ok
        assert row["makespan_h"] == metrics(small, made.schedules[name]).table()["makespan_h"]
        assert (row["slowdown_mean"], row["call_delay_mean_s"]) == (1.0, 0.0)
    for block in (table[k : k + len(names)] for k in range(0, len(table), len(names))):
        for figure, word in (("makespan_h", "makespan"), ("wait_mean_s", "mean wait")):
            ranks = [row[f"rank by {word}"] for row in block]
            values = [row[figure] for row in block]
            assert ranks == [1 + sum(other < value for other in values) for value in values]  # type: ignore[operator]
            before = [row[f"rank by {word}"] for row in table[: len(names)]]
            assert [row[f"rank by {word}, change"] for row in block] == [
                now - then for now, then in zip(ranks, before, strict=True)  # type: ignore[operator]
            ]  # fmt: skip
    # Two servers for up to four calls: FIFO's first four ask at 10, and two of them wait.
    line = next(row for row in table if row["service"] == "2 servers, first come first served")
    assert float(line["slowdown_mean"]) > 1  # type: ignore[arg-type]
    assert float(line["makespan_h"]) > float(table[0]["makespan_h"])  # type: ignore[arg-type]
    for chart in made.charts.values():
        assert "<path" in vl_convert.vegalite_to_svg(dict(chart))


def test_places_change_where_the_better_becomes_the_worse() -> None:
    """Of a < b < c and b < c < a: a passes b and c. A tie before or after is no change."""
    assert swaps({"a": 1, "b": 2, "c": 3}, {"a": 9, "b": 2, "c": 3}) == 2
    assert swaps({"a": 1, "b": 1}, {"a": 2, "b": 1}) == swaps({"a": 1, "b": 2}, {"a": 1, "b": 1}) == 0


def test_without_calls_there_is_no_slowdown() -> None:
    found = serve(workload(attempt("a", "tool 3")), Limits(1), InOrder(), Servers(1))
    assert (found.slowdown, found.delay, found.calls) == (None, None, ())


def test_slowdown_and_delay_by_hand() -> None:
    """One server, works 4 and 2 at 0: responses 4 and 6, so (1 + 3) / 2, and (0 + 4) / 2 ticks."""
    found = serve(of_calls([(0, 4), (0, 2)]), Limits(2), InOrder(), Servers(1))
    assert (found.slowdown, found.delay) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Servers(0), r"^servers is 0, expected a whole number from 1\.$"),
        (lambda: processor_sharing(0), r"^servers is 0, expected a whole number from 1\.$"),
        (lambda: Sharing(()), r"^The curve is empty, expected pairs"),
        (lambda: Sharing(((1, 1000), (1, 1000))), r"^The curve holds 1 calls .* expected more calls than 1,"),
        (lambda: Sharing(((2, 2001),)), r"a throughput from 1 to 2000\.$"),
        (lambda: Sharing(((2, 0),)), r"a throughput from 1 to 2000\.$"),
        (lambda: Sharing(((2, 1.5),)), r"^The curve holds \(2, 1\.5\), expected two whole numbers\.$"),
    ],
)
def test_what_is_no_service_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(SchedulingError, match=sentence):
        make()  # type: ignore[operator]


@pytest.mark.oracle
def test_real_calls_with_a_server_for_each_take_as_long_as_logged(shared: Path) -> None:
    """16 slots never have more than 16 calls in flight, so 16 servers are as good as any number."""
    file = shared / "data/tmax/tmax-9b.trials.jsonl.gz"
    of = read_workload(file, Assumptions()).workload.first_of_each_task(3)
    for service in (Servers(None), Servers(16), processor_sharing(16)):
        found = serve(of, Limits(16), InOrder(), service)
        assert found.schedule.starts == fifo(of, Limits(16)).starts
        assert found.workload.attempts == of.attempts
    slower = serve(of, Limits(16), InOrder(), Servers(8))
    assert metrics(slower.workload, slower.schedule).makespan > metrics(of, fifo(of, Limits(16))).makespan
