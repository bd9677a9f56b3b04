"""Make the saved decisions of the bundled package tias-like-tradeoff again, and seal it.

They follow from the trace within seconds. Trace, claims and README are written by hand; the trace by

    scheduling_core.queueing.synthetic.generate(240, 64, 1.1, seed=1, durations=Lognormal(),
        gangs={1: .45, 2: .1, 4: .15, 8: .2, 16: .07, 32: .03})
    scheduling_core.queueing.deadlines.with_deadlines(trace, 0.5, 1.5, 5, seed=1)
    scheduling_core.queueing.formats.write_trace(trace)
"""

import csv
import io
from pathlib import Path

from artifacts.errors import AnalysisError
from artifacts.manifest import parse_manifest
from artifacts.runner import Runner
from artifacts.seal import seal

QUEUEING = (Path(__file__).parent / "tias-like-tradeoff",)
DECISIONS = "outputs/decisions.csv"
LOGS = ["fifo", "las2d", "edf_las", "tias_like last 1.5", "tias_like queue 1.5"]
"""Policies whose decisions are saved, for the checker to judge."""


def rebuild_queueing(folder: Path) -> None:
    """Run the analysis once more, write the decisions of `LOGS`, and seal.

    Raises AnalysisError when the analysis isn't installed or fails.
    """
    manifest = parse_manifest((folder / "manifest.json").read_bytes())
    analysis = next(analysis for analysis in manifest.analyses if analysis.id == "trade-off")
    asked = analysis.model_copy(update={"parameters": {**analysis.parameters, "LOGS": LOGS}})
    with Runner() as runner:
        result = runner.run(asked, lambda path: folder.resolve() / path)
    if result.failure is not None:
        raise AnalysisError(result.detail or f"{folder.name}: {result.failure}")
    table = result.tables["decisions"]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(table["columns"])
    rows.writerows(table["rows"])
    (folder / DECISIONS).write_text(text.getvalue(), encoding="utf-8", newline="\n")
    seal(folder)
