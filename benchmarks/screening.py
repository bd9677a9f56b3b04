"""How soon does a simulated screening find what is relevant, and at what cost, against ASReview?

    python benchmarks/screening.py [--data DIR] [--sets NAME,...] [--seeds N] [--peer-batch]
                                   [--save FILE] [--json]

Every set, prior seed and mode is a process of its own on each side, ours and ASReview's in turn; its CPU
seconds (user and system, start-up and all) are what the system counted for that process. Both get the same
titles and abstracts and the same priors, one relevant and one irrelevant record, which are left out of
every measure. ASReview runs with its default model; its interpreter is PROOFSHELF_ASREVIEW, or this one.

Modes: ours after every record, ours in batches of 10, ASReview after every record; with --peer-batch ASReview
in batches of 10 as well. WSS is that of asreview-insights (see classifiers/active/discovery.py).

Sets are the CSV files of --data (title, abstract, label_included; may be gzipped) and its folders in the
form of SYNERGY (labels.csv and works_*.zip of OpenAlex JSON).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.util
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared/data/screening"
PEER = "PROOFSHELF_ASREVIEW"
LEVELS = (0.9, 0.95)
BATCH = 10
COLUMNS = ("record_id", "title", "abstract", "label_included")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", help="names with commas between, such as Menon,Nelson; all without")
    parser.add_argument(
        "--seeds", default="10", help="how many prior seeds from 0 on, or seeds with commas between"
    )
    parser.add_argument("--peer-batch", action="store_true", help="ASReview in batches of 10 as well")
    parser.add_argument(
        "--save", type=Path, help="append each run as a line of JSON; what is there isn't run again"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ours", nargs=3, metavar=("FILE", "PRIORS", "BATCH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ours:
        _simulate_ours(*arguments.ours)
        return
    if not arguments.data.is_dir():
        print(f"(no sets in {arguments.data})")
        return
    sys.path.insert(0, str(ROOT))
    peer = os.environ.get(PEER) or (sys.executable if importlib.util.find_spec("asreview") else None)
    names = set(arguments.sets.split(",")) if arguments.sets else None
    given = [int(seed) for seed in arguments.seeds.split(",")]
    seeds = list(range(given[0])) if len(given) == 1 else given
    modes = ["ours 1", f"ours {BATCH}"]
    if peer:
        modes += ["ASReview 1"] + ([f"ASReview {BATCH}"] if arguments.peer_batch else [])
    results = measure(arguments.data, names, seeds, modes, peer, arguments.save)
    if arguments.json:
        print(json.dumps({"modes": summary(results, modes), "runs": results}, indent=2, sort_keys=True))
        return
    report(results, modes)
    if not peer:
        print(f"(ASReview isn't here: pip install asreview, or set {PEER} to an interpreter that has it)")


def measure(
    data: Path,
    names: set[str] | None,
    seeds: Sequence[int],
    modes: Sequence[str],
    peer: str | None,
    save: Path | None,
) -> list[dict[str, Any]]:
    """Every run, seed by seed, the modes in turn within each set."""
    done = [json.loads(line) for line in save.read_text().splitlines()] if save and save.exists() else []
    known = {(run["set"], run["seed"], run["mode"]): run for run in done}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        sets = {name: (Path(folder) / f"{name}.csv", records) for name, records in read_sets(data, names)}
        for file, records in sets.values():
            write_records(file, records)
        for seed in seeds:
            for name, (file, records) in sets.items():
                for mode in modes:
                    run = known.get((name, seed, mode))
                    if run is None:
                        measured = run_once(file, records, seed, mode, peer)
                        run = {"set": name, "seed": seed, "mode": mode, **measured}
                        if save:
                            with save.open("a") as lines:
                                lines.write(json.dumps(run) + "\n")
                    results.append(run)
    return results


def run_once(
    file: Path, records: Sequence[Mapping[str, str]], seed: int, mode: str, peer: str | None
) -> dict[str, Any]:
    """One simulation in a process of its own: its measures and CPU seconds."""
    from classifiers.active.discovery import Discovery
    from classifiers.active.pool import draw_priors

    ids = [record["record_id"] for record in records]
    labels = [record["label_included"] == "1" for record in records]
    priors = draw_priors(ids, labels, seed)
    side, batch = mode.split()
    with tempfile.TemporaryDirectory() as folder:
        if side == "ours":
            command = [sys.executable, __file__, "--ours", str(file), ",".join(priors), batch]
            cpu, output = child(command)
            order = json.loads(output)
        else:
            assert peer is not None
            rows = [str(ids.index(prior)) for prior in priors]
            project = Path(folder) / "run.asreview"
            command = [peer, "-m", "asreview", "simulate", str(file), "--prior-idx", *rows]
            command += ["--seed", str(seed), "-o", str(project)]
            if batch != "1":
                command += ["--config-file", str(peer_settings(peer, int(batch), Path(folder)))]
            cpu, _ = child(command)
            order = [ids[row] for row in peer_order(project, Path(folder))]
    relevant = dict(zip(ids, labels, strict=True))
    found = [relevant[one] for one in order]
    discovery = Discovery.of(found, sum(labels) - 1, len(ids) - 2)
    return {
        "cpu_seconds": cpu,
        **{f"wss_at_{level:g}": discovery.wss(level) for level in LEVELS},
        "recall_after_10": discovery.recall_after(0.1),
        "atd_normalised": (discovery.atd() or 0) / discovery.records,
        "positions": discovery.positions,
    }


def child(command: Sequence[str]) -> tuple[float, str]:
    """Run to the end: CPU seconds that the system counted for it, and its output."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, env={**os.environ, **ONE_THREAD}, cwd=tempfile.gettempdir()
        )  # the peer leaves a cache where it runs
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.read().decode(errors='replace')[-2000:]}")
        output.seek(0)
        return usage.ru_utime + usage.ru_stime, output.read().decode()


def _simulate_ours(file: str, priors: str, batch: str) -> None:
    """What the measured process of ours does: read, simulate, print the order of ids."""
    sys.path.insert(0, str(ROOT))
    from classifiers.active.pool import LabelledPool
    from classifiers.active.simulate import simulate
    from classifiers.features import Document

    with open(file, encoding="utf-8", newline="") as lines:
        records = list(csv.DictReader(lines))
    pool = LabelledPool.of(
        [Document(r["record_id"], r["title"], r["abstract"]) for r in records],
        [r["label_included"] == "1" for r in records],
    )
    print(json.dumps([step.id for step in simulate(pool, priors.split(","), batch=int(batch)).steps]))


def peer_settings(peer: str, batch: int, folder: Path) -> Path:
    """ASReview's default model with another batch size, as a file: its command line ignores the latter."""
    ask = (
        "import json, dataclasses; from asreview.models.models import get_ai_config;"
        f"print(json.dumps({{**dataclasses.asdict(get_ai_config()['value']), 'n_query': {batch}}}))"
    )
    text = subprocess.run(
        [peer, "-c", ask], check=True, capture_output=True, text=True, cwd=tempfile.gettempdir()
    ).stdout
    path = folder / "settings.json"
    path.write_text(text)
    return path


def peer_order(project: Path, folder: Path) -> list[int]:
    """The rows in the order in which ASReview labelled them, priors left out."""
    with zipfile.ZipFile(project) as archive:
        archive.extract("results.db", folder)
    db = sqlite3.connect(folder / "results.db")
    try:
        found = db.execute("SELECT record_id FROM results WHERE training_set IS NOT NULL ORDER BY rowid")
        return [row[0] for row in found]
    finally:
        db.close()


def read_sets(data: Path, names: set[str] | None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Each set by its short name (before the underscore) with its records in the order of the file."""
    tables = {path.name.split(".")[0]: path for path in [*data.glob("*.csv"), *data.glob("*.csv.gz")]}
    folders = {path.parent.name: path.parent for path in data.rglob("labels.csv")}
    for name, path in sorted({**tables, **folders}.items()):
        short = name.split("_")[0]
        if names is None or short in names:
            yield short, _from_folder(path) if path.is_dir() else _from_table(path)


def _from_table(path: Path) -> list[dict[str, str]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    return [_record(i, row["title"], row["abstract"], row["label_included"]) for i, row in enumerate(rows)]


def _from_folder(folder: Path) -> list[dict[str, str]]:
    works: dict[str, Any] = {}
    for path in sorted(folder.glob("works_*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    found = json.loads(archive.read(name))
                    found = found if isinstance(found, list) else found.get("results", [found])
                    works.update((work["id"], work) for work in found)
    with (folder / "labels.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    records = []
    for i, row in enumerate(rows):
        work = works.get(row["openalex_id"], {})
        index = work.get("abstract_inverted_index") or {}
        words = sorted((position, word) for word, positions in index.items() for position in positions)
        text = " ".join(word for _, word in words)
        records.append(_record(i, work.get("title") or "", text, row["label_included"]))
    return records


def _record(row: int, title: str, abstract: str, label: str) -> dict[str, str]:
    return dict(zip(COLUMNS, (str(row), title, abstract, label), strict=True))


def write_records(path: Path, records: Sequence[Mapping[str, str]]) -> None:
    """One file for both sides."""
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(COLUMNS)
        writer.writerows([record[name] for name in COLUMNS] for record in records)


def summary(results: Sequence[Mapping[str, Any]], modes: Sequence[str]) -> dict[str, Any]:
    """For each mode the means of each set over the seeds, and of all sets; CPU seconds are of one run."""
    measures = [name for name in results[0] if name not in ("set", "seed", "mode", "positions")]
    found: dict[str, Any] = {}
    for mode in modes:
        by_set = {
            name: {
                measure: _mean([run[measure] for run in results if (run["set"], run["mode"]) == (name, mode)])
                for measure in measures
            }
            for name in dict.fromkeys(run["set"] for run in results)
        }
        overall = {measure: _mean([of[measure] for of in by_set.values()]) for measure in measures}
        found[mode] = {"sets": by_set, "mean": overall}
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def report(results: Sequence[Mapping[str, Any]], modes: Sequence[str]) -> None:
    found = summary(results, modes)
    first = found[modes[0]]
    print(f"{'WSS@95, % / CPU s a run':24}" + "".join(f"{mode:>20}" for mode in modes))
    for name in [*first["sets"], "mean"]:
        cells = [found[mode]["mean"] if name == "mean" else found[mode]["sets"][name] for mode in modes]
        print(
            f"{name:24}" + "".join(f"{100 * c['wss_at_0.95']:12.2f} {c['cpu_seconds']:7.2f}" for c in cells)
        )
    for title, measure, scale in (
        ("WSS@90, %", "wss_at_0.9", 100),
        ("recall after 10 %, %", "recall_after_10", 100),
        ("ATD, % of records", "atd_normalised", 100),
    ):
        print(
            f"{title:24}" + "".join(f"{scale * found[mode]['mean'][measure]:12.2f} {'':7}" for mode in modes)
        )
    base = found.get("ASReview 1")
    for mode in modes if base else ():
        if base and mode.startswith("ours"):
            more = 100 * (found[mode]["mean"]["wss_at_0.95"] - base["mean"]["wss_at_0.95"])
            ratio = found[mode]["mean"]["cpu_seconds"] / base["mean"]["cpu_seconds"]
            print(f"{mode} against ASReview 1: {more:+.2f} points of WSS@95, {ratio:.3f} of its CPU")


if __name__ == "__main__":
    main()
