"""A small package to break in many ways, and a distribution of analyses to run."""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.package import open_package
from artifacts.seal import seal
from artifacts.verify import verify_package
from schema.verification import Verification

JOBS = "id,steps,share\n1,10,0.25\n2,20,0.50\n3,30,0.75\n"
TRACE = '[{"step": 1, "total": 1.5}, {"step": 2, "total": 2.5}]'
PAGE = '<html><body><script id="data">[{"step":1,"total":1.50},{"step":2,"total":2.5}]</script></body></html>'

DRAFT: dict[str, Any] = {
    "manifest_version": 1,
    "id": "small",
    "title": "A small package",
    "work": {"id": "small-paper", "title": "A small paper"},
    "licence": "CC0-1.0",
    "analyses": [
        {
            "id": "from-jobs",
            "kind": "query",
            "inputs": {"jobs": "inputs/jobs.csv"},
            "sql": "SELECT avg(steps), count(*) FROM jobs",
        },
        {
            "id": "from-trace",
            "kind": "query",
            "inputs": {"trace": "outputs/trace.json"},
            "sql": "SELECT avg(total) FROM trace",
        },
    ],
    "claims": [
        {
            "id": "mean-steps",
            "text": "a job has 20 steps on average",
            "value": "20",
            "evidence": [{"analysis": "from-jobs", "pointer": "/rows/0/0"}],
        },
        {
            "id": "jobs",
            "text": "there are 3 jobs",
            "value": "3",
            "evidence": [{"analysis": "from-jobs", "pointer": "/rows/0/1"}],
        },
        {
            "id": "mean-total",
            "text": "the mean total is 2",
            "value": "2.00",
            "evidence": [{"analysis": "from-trace", "pointer": "/rows/0/0"}],
        },
    ],
}


@pytest.fixture
def draft() -> dict[str, Any]:
    """The draft manifest of the small package, to change at will."""
    return copy.deepcopy(DRAFT)


@pytest.fixture
def make_package(tmp_path: Path) -> Callable[..., Path]:
    """Build and seal a package folder from a draft and extra files."""

    def make(draft: dict[str, Any] | None = None, files: dict[str, str | bytes] | None = None) -> Path:
        root = tmp_path / "package"
        contents: dict[str, str | bytes] = {"inputs/jobs.csv": JOBS, "outputs/trace.json": TRACE}
        for name, content in {**contents, **(files or {})}.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        (root / "manifest.json").write_text(json.dumps(draft or DRAFT, indent=2))
        seal(root)
        return root

    return make


@pytest.fixture
def verify() -> Callable[..., Verification]:
    """Verify a package folder or archive as the command does."""

    def run(path: Path, **options: Any) -> Verification:
        with open_package(path) as package:
            return verify_package(
                package.root,
                package.manifest,
                package.manifest_sha256,
                who="a reader",
                origin="folder",
                code_version="test",
                **options,
            )

    return run


ANALYSES = """
import json, os, time

def mean(inputs, parameters, seed):
    values = [float(line.split(",")[1]) for line in inputs["jobs"].read_text().splitlines()[1:]]
    factor = parameters.get("factor", 1)
    if factor < 0:
        raise ValueError("factor must not be negative; expected 0 or more")
    result = factor * sum(values) / len(values)
    return {"outputs": {"mean": result, "seed": seed, "a/b": [1, 2]},
            "tables": {"values": {"columns": ["value"], "rows": [[v] for v in values]}},
            "charts": {"bars": {"mark": "bar"}}}

def nan(inputs, parameters, seed):
    return {"outputs": {"mean": [1.0, float("nan")]}}

def not_json(inputs, parameters, seed):
    return {"outputs": {"mean": {1, 2}}}

def wrong_shape(inputs, parameters, seed):
    return [1, 2, 3]

def ragged(inputs, parameters, seed):
    return {"outputs": {}, "tables": {"t": {"columns": ["a", "b"], "rows": [[1]]}}}

def breaks(inputs, parameters, seed):
    return {}["nothing"]

def sleeps(inputs, parameters, seed):
    time.sleep(60)

def spawns_and_sleeps(inputs, parameters, seed):
    import subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    open(parameters["note"], "w").write(str(child.pid))
    time.sleep(60)

def eats(inputs, parameters, seed):
    return {"outputs": len(bytearray(1 << 40))}

def aborts(inputs, parameters, seed):
    os.abort()

def prints(inputs, parameters, seed):
    print("hello" * 10000, flush=True)
    os.write(1, b"raw bytes")
    return {"outputs": {"mean": 20}}

def threads(inputs, parameters, seed):
    return {"outputs": [os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"], os.getcwd()]}

def echoes(inputs, parameters, seed):
    return {"outputs": {"parameters": {"factor": 1, "fitted": 20, **parameters}, "mean": 20}}

def pid(inputs, parameters, seed):
    return {"outputs": os.getpid()}
"""
SECOND = """
def run(inputs, parameters, seed):
    rows = inputs["jobs"].read_text().split()[1:]
    return {"outputs": {"mean": sum(int(r.split(",")[1]) for r in rows) / len(rows)}}
"""
NAMES = [
    "mean",
    "nan",
    "not_json",
    "wrong_shape",
    "ragged",
    "breaks",
    "sleeps",
    "spawns_and_sleeps",
    "eats",
    "aborts",
    "prints",
    "threads",
    "pid",
    "echoes",
]


@pytest.fixture
def analyses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution, `demo-analyses`, with two implementations of one mean."""
    site = tmp_path / "site"
    for name, text in {
        "demo_core/__init__.py": "",
        "demo_core/first/__init__.py": "",
        "demo_core/first/analysis.py": ANALYSES,
        "demo_core/second/__init__.py": SECOND,
        "demo_analyses-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: demo-analyses\nVersion: 1.5\n",
        "demo_analyses-1.5.dist-info/entry_points.txt": "[proofshelf.analyses]\n"
        + "".join(f"{name.replace('_', '-')} = demo_core.first.analysis:{name}\n" for name in NAMES)
        + "mean-again = demo_core.second:run\nno-import = demo_core.missing:run\n",
    }.items():
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.syspath_prepend(str(site))
    for name in [n for n in sys.modules if n.split(".")[0] == "demo_core"]:
        monkeypatch.delitem(sys.modules, name)
    return site
