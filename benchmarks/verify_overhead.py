"""What `verify` costs beyond the work itself: its CPU time over that of hashing and analyses alone.

    python benchmarks/verify_overhead.py [--rounds 3] [--package FOLDER ...] [--json]

The work itself is: hash every file, run every analysis that a claim names on the files as they stand.
`verify` also copies what analyses read, compares, checks sources and writes the verdict. Both are
measured in turn in fresh processes, from after the imports to the end, children included; reported is
the ratio of the medians. Measured packages: one made here (200 MB of files, five queries over 20 MB of
CSV and JSON, 100 claims), and every bundled package that has a manifest.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEAST_WORK_S = 0.05  # below that a ratio says nothing
BUNDLED = ROOT / "artifacts" / "packages"

MEASURE = """
import json, resource, sys
from pathlib import Path
from artifacts.hashing import hash_files
from artifacts.package import open_package
from artifacts.runner import Runner
from artifacts.verify import verify_package

def used():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)

what, folder = sys.argv[1:]
outcome = None
with open_package(folder) as package:
    manifest = package.manifest
    before = used()
    if what == "verify":
        run = verify_package(package.root, manifest, package.manifest_sha256, who="benchmark",
                             origin="folder", code_version="benchmark")
        outcome = run.outcome.value
    else:
        list(hash_files([package.root / f.path for f in manifest.files]))
        named = {e.analysis for c in manifest.claims for e in c.evidence}
        with Runner() as runner:
            for analysis in manifest.analyses:
                if analysis.id in named:
                    result = runner.run(analysis, lambda path: package.root / path)
                    assert result.failure is None, result.detail
    print(json.dumps({"cpu_s": used() - before, "outcome": outcome}))
"""


def make_package(root: Path) -> None:
    """180 MB of plain files, 20 MB of tables, five queries, 100 claims that hold."""
    chance = random.Random(0)
    for number in range(18):
        place = root / "inputs" / f"noise-{number:02d}.bin"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(chance.randbytes(10_000_000))
    rows = [(i, i % 97, chance.randrange(1000), chance.random()) for i in range(300_000)]
    lines = ["id,job,steps,rate", *(f"{i},{job},{steps},{rate!r}" for i, job, steps, rate in rows)]
    (root / "inputs/jobs.csv").write_text("\n".join(lines) + "\n")
    (root / "outputs").mkdir()
    trace = [{"step": i, "total": steps, "rate": rate} for i, _, steps, rate in rows[:100_000]]
    (root / "outputs/trace.json").write_text(json.dumps(trace))
    jobs, outputs = {"jobs": "inputs/jobs.csv"}, {"trace": "outputs/trace.json"}
    queries = [
        ("counts", jobs, "SELECT job, count(*) FROM jobs GROUP BY job ORDER BY job"),
        ("steps", jobs, "SELECT job, sum(steps) FROM jobs GROUP BY job ORDER BY job"),
        ("largest", jobs, "SELECT job, max(steps) FROM jobs GROUP BY job ORDER BY job"),
        ("trace", outputs, "SELECT step % 97, sum(total) FROM trace GROUP BY 1 ORDER BY 1"),
        ("trace-largest", outputs, "SELECT step % 97, max(total) FROM trace GROUP BY 1 ORDER BY 1"),
    ]

    def expected(query: str, job: int) -> int:
        steps = [s for i, j, s, _ in rows if j == job and (not query.startswith("trace") or i < 100_000)]
        return {"counts": len, "steps": sum, "largest": max, "trace": sum, "trace-largest": max}[query](steps)

    claims: list[dict[str, Any]] = [
        {
            "id": f"{query}-{job}",
            "text": f"{query} of job {job}",
            "value": str(expected(query, job)),
            "evidence": [{"analysis": query, "pointer": f"/rows/{job}/1"}],
        }
        for query, _, _ in queries
        for job in range(20)
    ]
    draft = {
        "manifest_version": 1,
        "id": "workload",
        "title": "A workload",
        "work": {"id": "workload-paper", "title": "A paper with a workload"},
        "licence": "CC0-1.0",
        "analyses": [{"id": i, "kind": "query", "inputs": f, "sql": s} for i, f, s in queries],
        "claims": claims,
    }
    (root / "manifest.json").write_text(json.dumps(draft))
    from artifacts.seal import seal

    seal(root)


def once(what: str, folder: Path) -> dict[str, Any]:
    """One measurement in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", MEASURE, what, str(folder)]
    result = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{folder}: {what} failed: {result.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(result.stdout))


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Medians of interleaved rounds, the first thrown away."""
    work, verify = [], []
    outcome = None
    for _ in range(rounds + 1):
        work.append(once("work", folder)["cpu_s"])
        result = once("verify", folder)
        verify.append(result["cpu_s"])
        outcome = result["outcome"]
    w, v = statistics.median(work[1:]), statistics.median(verify[1:])
    ratio = round(v / w, 3) if w >= LEAST_WORK_S else None
    return {"work_s": round(w, 3), "verify_s": round(v, 3), "ratio": ratio, "outcome": outcome}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--package", type=Path, action="append", default=[], help="another package folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    folders = [*(p.parent for p in sorted(BUNDLED.glob("*/manifest.json"))), *options.package]
    with tempfile.TemporaryDirectory(prefix="proofshelf-bench-") as name:
        workload = Path(name) / "workload"
        make_package(workload)
        results = {folder.name: measure(folder, options.rounds) for folder in [workload, *folders]}
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for label, r in results.items():
        print(
            f"{label}: verify {r['verify_s']:.2f} s CPU, hashing and analyses alone {r['work_s']:.2f} s, "
            f"ratio {r['ratio'] or 'not measurable'} ({r['outcome']})"
        )


if __name__ == "__main__":
    main()
