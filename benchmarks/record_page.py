"""Our record page against Datasette's own row page, on the same catalog and in the same run.

    python benchmarks/record_page.py [--works 10000] [--pages 150] [--json]

Both pages are asked in this process and without a network, in turns and for the same works,
Datasette's from an instance without our plugin; the figure is the median ratio of CPU time. At most
3 is the target. Every tenth work is a screened one, with three votes, a statement and 18 scores.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from datasette.app import Datasette
from datasette.plugins import pm

import catalog.web
from catalog import store
from catalog.screening import add_screening
from catalog.works import add_work, index_from
from schema.screening_record import ScreeningRecord
from schema.work import Abstract, Author, Identifier, Work

TARGET = 3.0
WORDS = ("scheduling", "cluster", "deep", "learning", "policy", "fairness", "trace", "queue", "deadline")
CATEGORIES = tuple(f"category_{number}" for number in range(9))
EVERY = 10
WARMING = 10


def make(path: Path, works: int) -> None:
    """A catalog of so many works with authors, identifiers and abstracts; every tenth is screened."""
    draw = random.Random(0)
    with store.create(path) as shelf, shelf.write() as db:
        for number in range(1, works + 1):
            add_work(db, _work(number, draw), f"work-{number}")
        index_from(db, 1)
        add_screening(db, _screening(works), "0" * 64, 0, "benchmark")


def _work(number: int, draw: random.Random) -> Work:
    def phrase(length: int) -> str:
        return " ".join(draw.choices(WORDS, k=length))

    return Work(
        title=phrase(9).capitalize(),
        authors=tuple(
            Author(name=f"{draw.choice(WORDS).capitalize()} {draw.randrange(500)}") for _ in range(4)
        ),
        year=2000 + number % 25,
        venue=phrase(3),
        type="article",
        language="en",
        abstract=Abstract(text=phrase(150), source="benchmark"),
        identifiers=(Identifier(scheme="doi", value=f"10.1000/{number}"),),
    )


def _screening(works: int) -> ScreeningRecord:
    screened = [f"work-{number}" for number in range(EVERY, works + 1, EVERY)]
    return ScreeningRecord.model_validate(
        {
            "rounds": [
                {
                    "id": "round",
                    "study": "Benchmark",
                    "title": "A screen",
                    "instrument": "title",
                    "categories": CATEGORIES,
                    "panel": 3,
                    "source": "benchmark",
                }
            ],
            "raters": [{"id": f"rater-{n}", "kind": "model", "name": f"Model {n}"} for n in range(3)],
            "votes": [
                {
                    "id": f"{work}-vote-{n}",
                    "round": "round",
                    "work": work,
                    "rater": f"rater-{n}",
                    "decision": "out_of_scope",
                    "reason": "Not a study of research.",
                    "reason_wording": "verbatim",
                }
                for work in screened
                for n in range(3)
            ],
            "statements": [
                {
                    "id": f"{work}-statement",
                    "work": work,
                    "publisher": "Benchmark",
                    "about": "prediction",
                    "text": "Machine predicted.",
                    "wording": "verbatim",
                    "status": "machine_predicted_unvalidated",
                    "source": "benchmark",
                }
                for work in screened
            ],
            "releases": [
                {
                    "id": "release",
                    "title": "A model",
                    "status": "score_only:v0",
                    "maturity": "not_passed",
                    "training_rounds": 7,
                    "decimals": 3,
                    "heads": [{"name": name, "categories": CATEGORIES} for name in ("A", "B")],
                    "source": "benchmark",
                }
            ],
            "scores": [
                {"work": work, "release": "release", "head": head, "category": category, "value": "0.001"}
                for work in screened
                for head in ("A", "B")
                for category in CATEGORIES
            ],
        }
    )


@asynccontextmanager
async def _asking(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of one Datasette with the plugins that are registered now."""
    datasette = Datasette([str(path)])
    await datasette.invoke_startup()
    transport = httpx.ASGITransport(app=datasette.client.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@asynccontextmanager
async def _alone() -> AsyncIterator[None]:
    """Datasette without our plugin, so that its page doesn't pay for us."""
    pm.unregister(catalog.web)
    try:
        yield
    finally:
        pm.register(catalog.web, "proofshelf")


async def _cost(client: httpx.AsyncClient, address: str) -> tuple[float, float]:
    """CPU and wall seconds of one page."""
    cpu, wall = time.process_time(), time.perf_counter()
    answer = await client.get(address)
    spent = time.process_time() - cpu, time.perf_counter() - wall
    if answer.status_code != 200:
        sys.exit(f"{address} answered {answer.status_code}")
    return spent


async def measure(path: Path, works: int, pages: int) -> dict[str, Any]:
    """Median CPU and wall milliseconds of each page, and the median of their ratios."""
    draw = random.Random(1)
    plain = [n for n in draw.sample(range(1, works + 1), 2 * pages) if n % EVERY][: pages // 2]
    screened = draw.choices(range(EVERY, works + 1, EVERY), k=pages - len(plain))
    jobs = [("plain", n) for n in plain] + [("screened", n) for n in screened]
    draw.shuffle(jobs)
    cpu: dict[str, list[tuple[float, float]]] = {"plain": [], "screened": []}
    wall: dict[str, list[tuple[float, float]]] = {"plain": [], "screened": []}

    async with _asking(path) as ours, _alone(), _asking(path) as theirs:
        for round_, (kind, number) in enumerate([jobs[0]] * WARMING + jobs):
            spent = {}
            for side in ("ours", "theirs") if round_ % 2 else ("theirs", "ours"):
                if side == "ours":
                    pm.register(catalog.web, "proofshelf")
                    spent[side] = await _cost(ours, f"/works/work-{number}")
                    pm.unregister(catalog.web)
                else:
                    spent[side] = await _cost(theirs, f"/{path.stem}/works/{number}")
            if round_ >= WARMING:
                cpu[kind].append((spent["ours"][0], spent["theirs"][0]))
                wall[kind].append((spent["ours"][1], spent["theirs"][1]))
    both = cpu["plain"] + cpu["screened"]
    return {
        "works": works,
        "pages": pages,
        "target": TARGET,
        "ratio": statistics.median(o / t for o, t in both),
        "ratio_wall": statistics.median(o / t for o, t in wall["plain"] + wall["screened"]),
        "ratio_plain": statistics.median(o / t for o, t in cpu["plain"]),
        "ratio_screened": statistics.median(o / t for o, t in cpu["screened"]),
        "ours_cpu_ms": 1000 * statistics.median(o for o, _ in both),
        "datasette_cpu_ms": 1000 * statistics.median(t for _, t in both),
    }


def main() -> int:
    """Build, measure, print; 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--works", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=150, help="how many works are asked for on both sides")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not any(plugin is catalog.web for plugin in pm.get_plugins()):
        pm.register(catalog.web, "proofshelf")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shelf.db"
        make(path, options.works)
        result = asyncio.run(measure(path, options.works, options.pages))
    if options.json:
        print(json.dumps(result))
    else:
        print(
            f"record page / Datasette's row page, CPU: {result['ratio']:.2f} (at most {TARGET:g})\n"
            f"  plain works {result['ratio_plain']:.2f}, screened works {result['ratio_screened']:.2f}, "
            f"wall time {result['ratio_wall']:.2f}\n"
            f"  {result['ours_cpu_ms']:.1f} ms against {result['datasette_cpu_ms']:.1f} ms of CPU, "
            f"{result['works']:,} works in the catalog"
        )
    return 0 if result["ratio"] <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
