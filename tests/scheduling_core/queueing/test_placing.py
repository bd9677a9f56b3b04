"""Where gangs are put: by hand, against a count of GPUs, and against every place that there is."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.compiled import plain_form
from scheduling_core.queueing.cluster import Cluster, Node, Placement, homogeneous
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.kernels import scanning
from scheduling_core.queueing.placing import CountPlacer, NodePlacer, Place
from scheduling_core.queueing.state import State, state_of
from scheduling_core.queueing.views import Numbers


def line(*numbers: int) -> Numbers:
    return np.array(numbers, dtype=np.int64)


def gangs(*gpus: int, kinds: tuple[str | None, ...] = ()) -> tuple[Trace, State]:
    """Jobs 0, 1, ... with these GPUs, all here."""
    given = kinds or (None,) * len(gpus)
    jobs = [Job(str(i), 0, g, 1, gpu_type=kind) for i, (g, kind) in enumerate(zip(gpus, given, strict=True))]
    trace = Trace("gangs", tuple(jobs))
    return trace, state_of(trace, 1, RestartCost())


def test_the_fullest_node_is_the_one_with_the_least_room_where_nobody_runs() -> None:
    """low runs on node 1, where job 0 left node 0 empty. first goes beside it, and node 0 stays whole for 4.

    Before low in the line, first could have any node; node 1 has as much room for it that nobody runs on.
    """
    trace, state = gangs(4, 2, 2, 4)
    placer = NodePlacer(homogeneous(8, 4, Placement.CONSOLIDATED), trace)
    placer.serve(line(0, 1), state, False)
    placer.release(line(0))
    chosen, moved = placer.serve(line(2, 1, 3), state, False)
    assert (chosen.tolist(), moved.tolist()) == ([True, True, True], [False, False, False])
    assert [placer.place(job) for job in (1, 2, 3)] == [((1, 2),), ((1, 2),), ((0, 4),)]


def test_what_a_job_leaves_in_moving_is_room_where_nobody_runs() -> None:
    """Three nodes of 4, 2 held on each. high takes 3 of node 0, the only one where it fits; low moves away.

    The GPU that is left on node 0 is then the least room that there is, and small takes it.
    """
    low, left, right, filler, other, high, small = range(7)
    trace, state = gangs(2, 2, 2, 2, 2, 3, 1)
    placer = NodePlacer(homogeneous(12, 4, Placement.CONSOLIDATED), trace)
    placer.serve(line(low, filler, left, other, right), state, False)
    assert [placer.place(job) for job in (low, left, right)] == [((0, 2),), ((1, 2),), ((2, 2),)]
    placer.release(line(filler, other))
    chosen, moved = placer.serve(line(left, right, high, low, small), state, False)
    assert chosen.all()
    assert moved.tolist() == [False, False, False, True, False]
    assert [placer.place(job) for job in (high, low, small)] == [((0, 3),), ((1, 2),), ((0, 1),)]


def test_a_large_gang_has_whole_nodes_and_its_rest_where_least_room_is() -> None:
    """10 GPUs on nodes of 4 are two whole ones and 2 GPUs beside the job that holds 2 of node 0."""
    trace, state = gangs(2, 10, 2)
    placer = NodePlacer(homogeneous(16, 4, Placement.CONSOLIDATED), trace)
    placer.serve(line(0, 1, 2), state, False)
    assert [placer.place(job) for job in range(3)] == [((0, 2),), ((0, 2), (1, 4), (2, 4)), ((3, 2),)]
    assert (placer.free(), placer.usable(2, None), placer.usable(3, None)) == (2, 2, 0)


sizes = st.lists(st.integers(1, 4), min_size=1, max_size=4)
orders = st.lists(st.permutations(range(6)), min_size=1, max_size=4)


@given(
    gpus=st.integers(1, 12),
    wanted=st.lists(st.integers(1, 8), min_size=6, max_size=6),
    order=st.permutations(range(6)),
    blocking=st.booleans(),
)
def test_counting_is_the_same_compiled_plain_and_by_nodes(
    gpus: int, wanted: list[int], order: list[int], blocking: bool
) -> None:
    """Where any GPUs will do, who is served and what stays free doesn't depend on how it is found."""
    trace, state = gangs(*wanted)
    placers = (
        CountPlacer(gpus), CountPlacer(gpus, plain_form(scanning)), NodePlacer(homogeneous(gpus, 3), trace),
    )  # fmt: skip
    served = [placer.serve(line(*order), state, blocking)[0].tolist() for placer in placers]
    assert served[0] == served[1] == served[2]
    taken = sum(wanted[job] for job, has in zip(order, served[0], strict=True) if has)
    assert {placer.free() for placer in placers} == {gpus - taken}
    assert len({placer.usable(2, None) for placer in placers}) == 1


def every_place(gang: int, nodes: list[Node], room: list[int], rule: Placement, kind: str) -> list[Place]:
    """All places that the rule allows in this room, by trying sets of nodes; one each where GPUs are free."""
    pool = [i for i, node in enumerate(nodes) if node.gpu_type == kind]
    if rule is not Placement.CONSOLIDATED:
        return [()] if sum(room[i] for i in pool) >= gang else []
    largest = max(nodes[i].gpus for i in pool)
    count, rest = divmod(gang, largest)
    if gang <= largest:
        return [((i, gang),) for i in pool if room[i] >= gang]
    found: list[Place] = []
    for whole in combinations([i for i in pool if room[i] == largest], count):
        last = [i for i in pool if i not in whole and room[i] >= rest]
        base = tuple((i, largest) for i in whole)
        found += [(*base, (i, rest)) for i in last] if rest else [base]
    return found


def can_hold(gang: int, nodes: list[Node], room: list[int], rule: Placement, kind: str | None) -> bool:
    kinds = {node.gpu_type for node in nodes} & ({kind} if kind else {"a", "b"})
    return any(every_place(gang, nodes, room, rule, each) for each in kinds)


@settings(max_examples=300)
@given(sizes=sizes, types=st.booleans(), rule=st.sampled_from(list(Placement)), orders=orders, data=st.data())
def test_who_keeps_moves_and_waits(
    sizes: list[int], types: bool, rule: Placement, orders: list[list[int]], data: st.DataObject
) -> None:
    """Down the line: a place that is still open is kept; else a job is served if there is a place for it."""
    nodes = [Node(size, "b" if types and i % 2 else "a") for i, size in enumerate(sizes)]
    wanted = data.draw(st.lists(st.integers(1, 7), min_size=6, max_size=6))
    kinds = data.draw(st.lists(st.sampled_from((None, None, nodes[-1].gpu_type)), min_size=6, max_size=6))
    trace, state = gangs(*wanted, kinds=tuple(kinds))
    placer = NodePlacer(Cluster(tuple(nodes), rule), trace)
    for order in orders:
        before = dict(placer.places)
        length = data.draw(st.integers(1, 6))
        chosen, moved = placer.serve(line(*order[:length]), state, False)
        room = list(sizes)
        for job, has, has_moved in zip(order, chosen.tolist(), moved.tolist(), strict=False):
            held = before.get(job)
            kept = held is not None and all(room[node] >= gpus for node, gpus in held)
            assert has == (kept or can_hold(wanted[job], nodes, room, rule, kinds[job]))
            if not has:
                assert job not in placer.places
                continue
            place = placer.place(job)
            assert has_moved == (held is not None and not kept)
            assert place == held or not kept
            assert sum(gpus for _, gpus in place) == wanted[job]
            assert {nodes[node].gpu_type for node, _ in place} <= {kinds[job] or nodes[place[0][0]].gpu_type}
            if rule is Placement.CONSOLIDATED:
                places = every_place(wanted[job], nodes, room, rule, nodes[place[0][0]].gpu_type)
                assert sorted(place) in [sorted(each) for each in places]
            for node, gpus in place:
                room[node] -= gpus
                assert room[node] >= 0
        assert placer.free() == sum(room)


def most_gangs(gang: int, nodes: list[Node], room: list[int], rule: Placement, kind: str) -> int:
    """How many gangs fit at once, by trying all ways."""
    if rule is not Placement.CONSOLIDATED:
        return sum(free for free, node in zip(room, nodes, strict=True) if node.gpu_type == kind) // gang
    best = 0
    for place in every_place(gang, nodes, room, rule, kind):
        rest = list(room)
        for node, gpus in place:
            rest[node] -= gpus
        best = max(best, 1 + most_gangs(gang, nodes, rest, rule, kind))
    return best


@settings(max_examples=150)
@given(sizes=sizes, rule=st.sampled_from(list(Placement)), gang=st.integers(2, 7), data=st.data())
def test_usable_is_the_most_that_gangs_of_a_size_can_use(
    sizes: list[int], rule: Placement, gang: int, data: st.DataObject
) -> None:
    """What is fragmented is what is left of the free GPUs when as many such gangs as fit are put there."""
    nodes = [Node(size, "b" if i == 3 else "a") for i, size in enumerate(sizes)]
    held = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=2))
    trace, state = gangs(*held)
    placer = NodePlacer(Cluster(tuple(nodes), rule), trace)
    placer.serve(line(0, 1), state, False)
    room = list(sizes)
    for place in placer.places.values():
        for node, gpus in place:
            room[node] -= gpus
    kinds = sorted({node.gpu_type for node in nodes})
    most = {kind: gang * most_gangs(gang, nodes, room, rule, kind) for kind in kinds}
    assert {kind: placer.usable(gang, kind) for kind in kinds} == most
    assert placer.usable(gang, None) == sum(most.values())


@given(sizes=sizes, rule=st.sampled_from(list(Placement)), gang=st.integers(1, 17))
def test_a_gang_is_refused_where_an_empty_cluster_has_no_place_for_it(
    sizes: list[int], rule: Placement, gang: int
) -> None:
    nodes = [Node(size, "b" if i == 3 else "a") for i, size in enumerate(sizes)]
    refusal = Cluster(tuple(nodes), rule).refusal(Job("j", 0, gang, 1))
    assert (refusal is None) == can_hold(gang, nodes, sizes, rule, None)
