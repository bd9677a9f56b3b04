"""How fast are the compiled kernels of admission, against plain Python that does the same?

    python benchmarks/admission.py [--instance FILE] [--repeat N] [--json]

2,000 attempts. Serial generation, list admission and evaluation hold three resources whole; the segment level
holds RAM in the active segments of the DeepSWE-like instance under 64 slots (--instance; without the file,
attempts drawn from the same distributions). Durations and demands of the first three are synthetic: seconds
LN(6.592, 0.515) of 60 to 5,400, and mixed quotas, since equal ones make serial generation trivial.
Plain Python is, row by row, the fastest of these: the kernel's own plain form, and programs written for lists
(heapq, sorted, accumulate). A move is compared with the full plain evaluation that it spares; how much
faster it is than its own plain form, which looks at as few blocks, is told apart by --json.
All sides run interleaved in one process on one thread; times are CPU seconds, the fastest of the rounds;
all answers are asserted to be equal.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import random
import sys
import time
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scheduling_core.admission.kernels import accounting, calls, sgs  # noqa: E402
from scheduling_core.compiled import is_compiled, numbers, plain_form  # noqa: E402

INSTANCE = ROOT.parent / "shared/data/deepswe_like/attempts.jsonl.gz"
ATTEMPTS, RESOURCES, SLOTS = 2_000, 3, 64
CAPACITIES = [64_000, 256 << 20, 640 << 20]
RAM = 8 << 20
SEED = 20_260_101
BITS = (ATTEMPTS - 1).bit_length()

Row = tuple[int, int, int]


def drawn() -> tuple[list[int], list[Row]]:
    """Durations in ticks, and (millicores, KiB of RAM, KiB of disk)."""
    draw = random.Random(SEED)
    seconds = [min(5_400, max(60, draw.lognormvariate(6.592, 0.515))) for _ in range(ATTEMPTS)]
    demands = [
        (
            draw.choices([1_000, 2_000, 4_000], [4, 4, 2])[0],
            draw.choices([2 << 20, 4 << 20, 8 << 20, 16 << 20], [3, 3, 3, 1])[0],
            draw.choices([10 << 20, 20 << 20, 40 << 20], [4, 5, 1])[0],
        )
        for _ in range(ATTEMPTS)
    ]
    return [round(10 * s) for s in seconds], demands


def active_runs(instance: Path) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """Durations of attempts in ticks, and when each holds RAM: everything but model segments."""
    if instance.is_file():
        with gzip.open(instance, "rt") as lines:
            rows = [json.loads(line)["segments"] for line in lines]
    else:
        rows = [_segments(random.Random(SEED + i)) for i in range(ATTEMPTS)]
    durations, runs = [], []
    for segments in rows:
        tick, held = 0, []
        for kind, ticks in segments:
            if kind != "model":
                held.append((tick, tick + ticks))
            tick += ticks
        durations.append(tick)
        runs.append(held)
    return durations, runs


def _segments(draw: random.Random) -> list[tuple[str, int]]:
    """Set-up, then model and tool by turns: 85 % of the time is the model's, as assumed."""
    steps = max(1, round(draw.lognormvariate(4.25, 0.4)))
    ticks = 10 * draw.lognormvariate(6.592, 0.515) / steps
    shares = [(draw.lognormvariate(0, 1), draw.lognormvariate(0, 1)) for _ in range(steps)]
    of_all = [sum(share[side] for share in shares) / steps for side in (0, 1)]
    made = [("setup", max(1, round(10 * draw.lognormvariate(1.176, 0.844))))]
    for model, tool in shares:
        made.append(("model", max(1, round(0.85 * ticks * model / of_all[0]))))
        made.append(("tool", max(1, round(0.15 * ticks * tool / of_all[1]))))
    return made


def admission_for_lists(durations: list[int], demands: list[Row]) -> list[int]:
    """List admission with heapq, the three resources written out."""
    free_cpu, free_ram, free_disk = CAPACITIES
    running: list[tuple[int, int]] = []
    push, pop = heapq.heappush, heapq.heappop
    starts = []
    now = 0
    for job, (cpu, ram, disk) in enumerate(demands):
        while (running and running[0][0] <= now) or free_cpu < cpu or free_ram < ram or free_disk < disk:
            end, ended = pop(running)
            if end > now:
                now = end
            a, b, c = demands[ended]
            free_cpu += a
            free_ram += b
            free_disk += c
        free_cpu -= cpu
        free_ram -= ram
        free_disk -= disk
        starts.append(now)
        push(running, (now + durations[job], job))
    return starts


def generation_for_lists(durations: list[int], demands: list[Row]) -> list[int]:
    """Serial generation on a sorted list of breakpoints, the three resources written out."""
    ticks, used = [0], [(0, 0, 0)]
    starts = []
    for duration, (cpu, ram, disk) in zip(durations, demands, strict=True):
        most_cpu, most_ram, most_disk = CAPACITIES[0] - cpu, CAPACITIES[1] - ram, CAPACITIES[2] - disk
        first = 0
        end = duration
        count = len(ticks)
        place = 0
        while place < count and ticks[place] < end:
            a, b, c = used[place]
            place += 1
            if a > most_cpu or b > most_ram or c > most_disk:
                first = place
                end = ticks[place] + duration
        starts.append(end - duration)
        last = bisect_left(ticks, end, first)
        if last == len(ticks) or ticks[last] != end:
            ticks.insert(last, end)
            used.insert(last, used[last - 1])
        used[first:last] = [(a + cpu, b + ram, c + disk) for a, b, c in used[first:last]]
    return starts


def uses_for_lists(starts: list[int], durations: list[int], demands: list[Row]) -> list[tuple[int, int]]:
    """Peaks and areas by merging sorted starts with sorted ends, the three resources written out."""
    ends = [s + d for s, d in zip(starts, durations, strict=True)]
    by_end = sorted(range(len(ends)), key=ends.__getitem__)
    cpu = ram = disk = most_cpu = most_ram = most_disk = gone = 0
    for job in sorted(range(len(starts)), key=starts.__getitem__):
        while ends[by_end[gone]] <= starts[job]:
            a, b, c = demands[by_end[gone]]
            cpu -= a
            ram -= b
            disk -= c
            gone += 1
        a, b, c = demands[job]
        cpu += a
        ram += b
        disk += c
        if cpu > most_cpu:
            most_cpu = cpu
        if ram > most_ram:
            most_ram = ram
        if disk > most_disk:
            most_disk = disk
    areas = [sum(d * row[r] for d, row in zip(durations, demands, strict=True)) for r in range(RESOURCES)]
    return list(zip((most_cpu, most_ram, most_disk), areas, strict=True))


def segments_for_lists(starts: list[int], begins: Any, ends: Any, horizon: int) -> tuple[int, int]:
    """Peak and area on a difference grid that is summed by accumulate."""
    grid = [0] * (horizon + 1)
    for start, of_begins, of_ends in zip(starts, begins, ends, strict=True):
        for tick in of_begins:
            grid[start + tick] += RAM
        for tick in of_ends:
            grid[start + tick] -= RAM
    use = list(accumulate(grid))
    return max(use), sum(use)


def sweep_of_segments(starts: list[int], begins: Any, ends: Any) -> tuple[int, int]:
    """Peak and area by sorted begins and ends, merged."""
    taken = sorted([s + t for s, of_one in zip(starts, begins, strict=True) for t in of_one])
    freed = sorted([s + t for s, of_one in zip(starts, ends, strict=True) for t in of_one])
    gone = most = 0
    for count, tick in enumerate(taken, 1):
        while freed[gone] <= tick:
            gone += 1
        if count - gone > most:
            most = count - gone
    return most * RAM, (sum(freed) - sum(taken)) * RAM


class Sides:
    """What is measured: for each row, a call in each form, with its answer as plain numbers."""

    def __init__(self, instance: Path) -> None:
        self.rows: dict[str, dict[str, tuple[Callable[[], Any], int]]] = {}
        self.durations, self.demands = drawn()
        self.starts = admission_for_lists(self.durations, self.demands)
        shuffled = random.Random(SEED).sample(self.starts, ATTEMPTS)
        long, runs = active_runs(instance)
        n = len(long)
        self.segment_starts = calls.admission_starts(long, [0] * n, [[1]] * n, [SLOTS], range(n))
        self.horizon = max(s + d for s, d in zip(self.segment_starts, long, strict=True))
        self.begins = [[begin for begin, _ in held] for held in runs]
        self.ends = [[end for _, end in held] for held in runs]
        self.runs = sum(map(len, runs))
        attempt = n // 2
        self.moved = attempt, (self.segment_starts[attempt], self.horizon - long[attempt])
        for name in ("compiled", "plain"):
            accounts = accounting if name == "compiled" else plain_form(accounting)
            generation = sgs if name == "compiled" else plain_form(sgs)
            many = 20 if name == "compiled" else 1
            self._add("serial generation", name, self._generation(generation), max(1, many // 4))
            self._add("list admission", name, self._admission(accounts), many)
            self._add("evaluation of given starts", name, self._uses(accounts, shuffled), many)
            self._add("segment level, full", name, self._segments(accounts), many)
            self._add("segment level, move", name, self._move(accounts), 10 * many)
        d, q, s = self.durations, self.demands, self.segment_starts
        self._add("serial generation", "lists", lambda: generation_for_lists(d, q), 1)
        self._add("list admission", "lists", lambda: admission_for_lists(d, q), 3)
        self._add("evaluation of given starts", "lists", lambda: uses_for_lists(shuffled, d, q), 3)
        grid = self.begins, self.ends, self.horizon
        self._add("segment level, full", "lists", lambda: segments_for_lists(s, *grid), 1)
        self._add("segment level, full", "sweep", lambda: sweep_of_segments(s, *grid[:2]), 1)

    def _add(self, row: str, side: str, call: Callable[[], Any], calls_: int) -> None:
        self.rows.setdefault(row, {})[side] = (call, calls_)

    def _jobs(self, module: Any) -> list[Any]:
        flat = [amount for row in self.demands for amount in row]
        values = (self.durations, [0] * ATTEMPTS, flat, CAPACITIES, range(ATTEMPTS))
        return [numbers(module, each) for each in values]

    def _generation(self, module: Any) -> Callable[[], Any]:
        sizes = (ATTEMPTS, *calls.sgs_scratch(ATTEMPTS, RESOURCES))
        given = [*self._jobs(module), *(numbers(module, [0] * size) for size in sizes)]

        def run() -> Any:
            assert module.schedule(*given) == -1
            return given[5]

        return run

    def _admission(self, module: Any) -> Callable[[], Any]:
        sizes = (ATTEMPTS, RESOURCES, ATTEMPTS + 3)
        given = [*self._jobs(module), BITS, *(numbers(module, [0] * size) for size in sizes)]

        def run() -> Any:
            assert module.admit(*given) == -1
            return given[6]

        return run

    def _uses(self, module: Any, starts: list[int]) -> Callable[[], Any]:
        durations, _, demands, *_ = self._jobs(module)
        sizes = (RESOURCES,) * 3 + (ATTEMPTS,) * 3 + (module.BUCKETS,)
        filled = [numbers(module, [0] * size) for size in sizes]
        given = [numbers(module, starts), durations, demands, BITS, *filled]

        def run() -> Any:
            module.whole_use(*given)
            return list(zip(map(int, filled[0]), map(int, filled[1]), strict=True))

        return run

    def _held(self, module: Any) -> list[Any]:
        pointers = list(accumulate(map(len, self.begins), initial=0))
        flat = [[tick for of_one in side for tick in of_one] for side in (self.begins, self.ends)]
        values = (self.segment_starts, pointers, *flat, [RAM] * len(self.begins))
        return [numbers(module, each) for each in values]

    def _segments(self, module: Any) -> Callable[[], Any]:
        found = numbers(module, [0, 0])
        given = [*self._held(module), numbers(module, [0] * (self.horizon + 1)), found]

        def run() -> Any:
            module.segment_use(*given)
            return int(found[0]), int(found[1])

        return run

    def _move(self, module: Any) -> Callable[[], Any]:
        """One attempt to the end of the grid, and with the next call back."""
        starts, *held = self._held(module)
        grid = numbers(module, [0] * (self.horizon + 1))
        for attempt in range(len(starts)):
            module.put(attempt, starts[attempt], 1, *held, grid)
        blocks = (self.horizon >> module.BLOCK_BITS) + 1
        sums, tops = (numbers(module, [0] * blocks) for _ in range(2))
        module.sum_blocks(grid, 0, blocks - 1, sums, tops)
        attempt, (back, away) = self.moved

        def run() -> Any:
            return module.move(
                attempt, back if starts[attempt] == away else away, starts, *held, grid, sums, tops
            )

        return run


def measure(sides: Sides, repeat: int) -> dict[str, Any]:
    """CPU seconds of one call of each side, the fastest of interleaved rounds, after one that is checked."""
    for row, calls_of in sides.rows.items():
        answers = []
        for call, _ in calls_of.values():
            answer = call()
            whole = [int(v) for v in answer] if row in ("serial generation", "list admission") else answer
            if row == "segment level, move":
                whole = [int(answer), int(call())]
                start, away = sides.moved[1]
                for at, peak in zip((away, start), whole, strict=True):
                    moved = list(sides.segment_starts)
                    moved[sides.moved[0]] = at
                    assert peak == sweep_of_segments(moved, sides.begins, sides.ends)[0]
            answers.append(whole)
        assert all(answer == answers[0] for answer in answers), row
    best: dict[str, dict[str, float]] = {row: {} for row in sides.rows}
    for _ in range(repeat):
        for row, calls_of in sides.rows.items():
            for side, (call, count) in calls_of.items():
                begin = time.process_time()
                for _ in range(count):
                    call()
                took = (time.process_time() - begin) / count
                best[row][side] = min(took, best[row].get(side, took))
    result: dict[str, Any] = {}
    full = min(v for side, v in best["segment level, full"].items() if side != "compiled")
    for row, of_sides in best.items():
        plain = min(v for side, v in of_sides.items() if side != "compiled")
        base = full if row == "segment level, move" else plain
        result[row] = {
            "cpu_seconds": of_sides,
            "per_second": 1 / of_sides["compiled"],
            "plain_per_second": 1 / base,
            "times_faster": base / of_sides["compiled"],
        }
        if base is not plain:
            result[row]["times_faster_than_its_plain_form"] = plain / of_sides["compiled"]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instance", type=Path, default=INSTANCE)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not is_compiled(accounting):
        raise SystemExit("numba isn't installed (the extra `fast`), so there is no compiled form to measure")
    sides = Sides(arguments.instance)
    result = measure(sides, arguments.repeat)
    if arguments.json:
        print(json.dumps(result, indent=2, sort_keys=True))
        return
    print(f"{ATTEMPTS:,} attempts x {RESOURCES} resources; {sides.runs:,} runs, {sides.horizon:,} ticks")
    print(f"{'':28}{'compiled/s':>12}{'plain/s':>10}{'faster':>9}")
    for row, of_one in result.items():
        print(
            f"{row:28}{of_one['per_second']:12,.0f}{of_one['plain_per_second']:10,.1f}"
            f"{of_one['times_faster']:7.1f} x"
        )


if __name__ == "__main__":
    main()
