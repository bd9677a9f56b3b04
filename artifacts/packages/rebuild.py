"""Make every generated file of the bundled package gavel-allocation again, and seal its manifest.

    python -m artifacts.packages.rebuild [FOLDER]

Without a folder, the admission packages are made again too (`rebuild_admission`).

Written by hand are the claims, the inputs, README, LICENSE, analysis.py, validate.py and the notebook's
cells. Made here are the saved outputs, tables, figures, the source page, the notebook's results, and the
sizes and hashes in the manifest. The same
inputs on the same machine give the same bytes; on another machine the last digits of the outputs may
differ, which is why outputs are compared by tolerance and only stored files by hash.
"""

import argparse
import hashlib
import json
import runpy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from artifacts.errors import AnalysisError
from artifacts.hashing import git_blob_sha1
from artifacts.packages.rebuild_admission import ADMISSION, rebuild_admission
from artifacts.packages.rebuild_queueing import QUEUEING, rebuild_queueing
from artifacts.runner import Runner
from artifacts.seal import seal
from schema.artifact import Analysis

GAVEL = Path(__file__).parent / "gavel-allocation"
ARTICLE_COMMIT = "9df3f608a3e7b2e95312504f9d1cbf22e190091f"
ARTICLE_PAGE_SHA1 = "572f09dc5a6399e5f80254791f0acbc1744798ba"
WEIGHTS = {"1:2:3": "baseline", "1:1:1": "alternative"}
POLICIES = ("aware", "agnostic")
_INPUTS = ("throughputs", "jobs", "cluster", "weights")


def rebuild(folder: Path) -> None:
    """Make all generated files of the package in `folder`, which holds those written by hand."""
    for part in ("outputs", "figures", "source", "notebook"):
        (folder / part).mkdir(exist_ok=True)
    save_outputs(folder)
    runpy.run_path(str(folder / "analysis.py"))["write"](folder, folder)
    (folder / "source/gavel-trace.html").write_bytes(source_page(folder))
    execute(folder / "notebook/gavel-allocation.ipynb")
    name_source_page(folder)
    seal(folder)


def save_outputs(folder: Path) -> None:
    """Run the analysis and write what it gives: three traces, two sets of means, their provenance.

    Raises AnalysisError when the analysis isn't installed or fails.
    """
    outputs = folder / "outputs"
    with Runner() as runner:
        both = _run(runner, folder, {})
        exact = _run(runner, folder, {"MODES": ["exact"]})
        swapped = {"MODES": ["published"], "BASELINE": "1:1:1", "ALTERNATIVE": "1:2:3"}
        other = _run(runner, folder, swapped)
    traces = {"gavel-trace": both, "gavel-exact": exact, "gavel-trace-1-1-1": other}
    for name, result in traces.items():
        (outputs / f"{name}.json").write_bytes(record_lines(_records(result.tables["trace"])))
    for name, mode in (("gavel-weight-summary", "published"), ("gavel-exact-summary", "exact")):
        means = [
            {
                "mode": mode,
                "weights": weights,
                "policy": policy,
                "mean": both.outputs[mode][scenario][policy]["all"]["mean"],
            }
            for weights, scenario in WEIGHTS.items()
            for policy in POLICIES
        ]
        (outputs / f"{name}.json").write_bytes(record_lines(means))
    (outputs / "gavel-source.json").write_bytes(_provenance(outputs))


def record_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """A JSON list with one record a line, all digits kept."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
    return f"[\n{lines}\n]\n".encode()


def source_page(folder: Path) -> bytes:
    """Our own page around the saved trace, which `script#gavel-data` gives back byte for byte."""
    trace = (folder / "outputs/gavel-trace.json").read_text(encoding="utf-8")
    if "</" in trace or "<!--" in trace:
        raise ValueError("the saved trace holds markup, which a script element can't carry")
    recorded = (
        f"<code>source/gavel-trace.html</code> at commit\n<code>{ARTICLE_COMMIT}</code>"
        f" with git blob SHA-1 <code>{ARTICLE_PAGE_SHA1}</code>"
    )
    page = f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gavel allocation trace, saved by proofshelf</title>
<style>body{{max-width:42rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif}}</style>
</head>
<body>
<h1>Gavel allocation trace, saved by proofshelf</h1>
<p>This page belongs to proofshelf's package <code>gavel-allocation</code>. It is not the article's page,
and its trace is not the article's file: the trace was computed again from public throughput figures, and
its hashes are never the article's. The article's page is recorded as {recorded};
proofshelf doesn't have it and hasn't checked it.</p>
<p>The trace stands in this page's source, in the element <code>script#gavel-data</code>: one record for
each policy, step and job that has arrived (weights 1:2:3, mode <em>published</em>). A score is a job's
effective throughput divided by what it would reach with a third of its time on each of K80, P100 and V100,
in an allocation-only numerical simulation; nothing was trained, and no round-based scheduler ran.</p>
<script type="application/json" id="gavel-data">{trace}</script>
</body>
</html>
"""
    return page.encode("utf-8")


def execute(path: Path) -> None:
    """Run a notebook's cells in order and keep what they show, without anything that differs between runs.

    Needs nbclient, nbformat and ipykernel (extra `dev`).
    """
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, record_timing=False, resources=where).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


def name_source_page(folder: Path) -> None:
    """Record the git blob SHA-1 of our source page beside its title in the manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for source in manifest["sources"]:
        if "file" in source:
            source["git_blob_sha1"] = git_blob_sha1((folder / source["file"]).read_bytes())
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _run(runner: Runner, folder: Path, parameters: dict[str, Any]) -> Any:
    analysis = Analysis(
        id="gavel-allocation",
        kind="builtin",
        builtin="gavel-allocation",
        inputs={name: f"inputs/{name}.csv" for name in _INPUTS},
        parameters=parameters,
    )
    result = runner.run(analysis, lambda path: folder.resolve() / path)
    if result.failure is not None:
        raise AnalysisError(result.detail or f"gavel-allocation: {result.failure}")
    return result


def _joined(outputs: list[Any]) -> list[Any]:
    """Pieces of one stream as one output: how a kernel cuts them depends on timing."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _records(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _provenance(outputs: Path) -> bytes:
    files = {"trace": "gavel-trace.json", "summary": "gavel-weight-summary.json"}
    source = {
        "note": "The two files are proofshelf's own, computed again from public throughput figures. What is "
        "said of the article is recorded as its page states it; proofshelf doesn't have the article's files, "
        "and their hashes are never those of the files here.",
        "files": [
            {"input": name, "name": file, "sha256": hashlib.sha256((outputs / file).read_bytes()).hexdigest()}
            for name, file in files.items()
        ],
        "article": {
            "commit": ARTICLE_COMMIT,
            "page": "source/gavel-trace.html",
            "git_blob_sha1": ARTICLE_PAGE_SHA1,
            "selector": "script#gavel-data",
        },
        "throughputs": {
            "repository": "stanford-futuredata/gavel",
            "commit": "c4fa400",
            "path": "scheduler/simulation_throughputs.json",
            "licence": "MIT",
        },
    }
    return (json.dumps(source, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def main() -> None:
    """Rebuild the committed packages, or a copy of the first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="the package's folder")
    folder = parser.parse_args().folder
    rebuild(GAVEL if folder is None else folder)
    for other in ADMISSION if folder is None else ():
        rebuild_admission(other)
    for other in QUEUEING if folder is None else ():
        rebuild_queueing(other)


if __name__ == "__main__":
    main()
