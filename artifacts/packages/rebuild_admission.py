"""Make the saved schedules of the bundled packages seer-tmax-like and seer-deepswe-like again, and seal them.

Those that a search of many seconds found are kept as they are: they need no trust, since the validator
derives everything from their starts. The others follow from the inputs within a few seconds. Inputs, claims
and README are written by hand; the inputs by

    proofshelf schedule admission generate tmax-like --attempts 267 --seed 1 --to attempts.jsonl.gz

and, for the other, by importing the rows that it was supplied as.
"""

import json
from pathlib import Path
from typing import Any

from artifacts.errors import AnalysisError
from artifacts.manifest import parse_manifest
from artifacts.runner import Runner
from artifacts.seal import seal

ADMISSION = tuple(Path(__file__).parent / name for name in ("seer-deepswe-like", "seer-tmax-like"))
SCHEDULES = "outputs/schedules.jsonl"
MADE = {
    "fewest-slots": ("bounds", "fewest-slots"),
    "fifo-a": ("replay", "as_logged fifo-a"),
    "grouped": ("grouped", "images-hours"),
}
"""Saved schedule -> analysis of the package, and the schedule in its table of starts."""


def rebuild_admission(folder: Path) -> None:
    """Make the schedules that follow from the inputs again, keep those that were searched for, and seal.

    Raises AnalysisError when an analysis isn't installed or fails.
    """
    path = folder / SCHEDULES
    kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in kept if row["name"] not in MADE]
    rows = [*_made(folder), *kept]
    lines = [json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    seal(folder)


def _made(folder: Path) -> list[dict[str, Any]]:
    manifest = parse_manifest((folder / "manifest.json").read_bytes())
    analyses = {analysis.id: analysis for analysis in manifest.analyses}
    starts: dict[str, dict[str, Any]] = {}
    with Runner() as runner:
        for name in dict.fromkeys(analysis for analysis, _ in MADE.values()):
            result = runner.run(analyses[name], lambda path: folder.resolve() / path)
            if result.failure is not None:
                raise AnalysisError(result.detail or f"{name}: {result.failure}")
            starts[name] = dict(result.tables["starts"]["rows"])
    return [{"name": name, **starts[analysis][saved]} for name, (analysis, saved) in MADE.items()]
