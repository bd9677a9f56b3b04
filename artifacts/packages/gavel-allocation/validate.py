"""Check this package with nothing but Python: python validate.py [FOLDER]

Five checks, one line each: the files (bytes, SHA-256, git blob SHA-1), the data embedded in the source
page, the trace and every number that a claim states, the tables and figures, and the notebook, whose
cells are executed again. Prints what is wrong and where; exits with 0 when all is well, else with 1.

It shares no code with the catalog. What it can't do is recompute the trace from throughput figures: the
catalog does that.
"""

import ast
import contextlib
import csv
import hashlib
import io
import json
import math
import os
import re
import runpy
import sys
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

sys.dont_write_bytecode = True
POLICIES = ("aware", "agnostic")


class Wrong(Exception):
    """What is wrong, in one sentence that begins with where."""


def require(condition, sentence):
    if not condition:
        raise Wrong(sentence)


# 1. Files


def check_files(folder, manifest):
    listed = {file["path"]: file for file in manifest["files"]}
    there = set()
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        leftover = path.name in (".DS_Store", "Thumbs.db") or "__pycache__" in path.relative_to(folder).parts
        if path.is_file() and name != "manifest.json" and not leftover:
            there.add(name)
    wrong = [f"{name}: is listed and missing" for name in sorted(set(listed) - there)]
    wrong += [f"{name}: is there and not listed" for name in sorted(there - set(listed))]
    for name in sorted(there & set(listed)):
        file, data = listed[name], (folder / name).read_bytes()
        if len(data) != file["bytes"]:
            wrong.append(f"{name}: has {len(data)} bytes, {file['bytes']} are recorded")
        elif hashlib.sha256(data).hexdigest() != file["sha256"]:
            wrong.append(f"{name}: its SHA-256 is not the recorded one")
        elif file.get("git_blob_sha1") and blob_sha1(data) != file["git_blob_sha1"]:
            wrong.append(f"{name}: its git blob SHA-1 is not the recorded one")
    require(not wrong, "\n                ".join(wrong))
    return f"{len(listed)} files have the recorded bytes"


def blob_sha1(data):
    """The name that git gives to a blob with these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


# 2. The source page


class Embedded(HTMLParser):
    """Collects the text of every <script> with one id."""

    def __init__(self, wanted):
        super().__init__(convert_charrefs=False)
        self.wanted, self.texts, self._inside = wanted, [], False

    def handle_starttag(self, tag, attrs):
        if tag == "script" and dict(attrs).get("id") == self.wanted:
            self._inside = True
            self.texts.append("")

    def handle_endtag(self, tag):
        if tag == "script":
            self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.texts[-1] += data


def check_source(folder, manifest):
    pages = [source for source in manifest["sources"] if source.get("file")]
    require(len(pages) == 1, "manifest.json: expected one source with a file of this package")
    page = pages[0]
    data = (folder / page["file"]).read_bytes()
    found = blob_sha1(data)
    require(found == page["git_blob_sha1"], f"{page['file']}: its git blob SHA-1 is {found}, not the recorded one")
    kind, _, wanted = page["selector"].partition("#")
    require(kind == "script" and wanted, f"manifest.json: {page['selector']!r} is not script#ID")
    parser = Embedded(wanted)
    parser.feed(data.decode("utf-8"))
    parser.close()
    require(len(parser.texts) == 1, f"{page['file']}: holds {len(parser.texts)} elements {page['selector']}, expected 1")
    same = parser.texts[0].encode("utf-8") == (folder / page["equals"]).read_bytes()
    require(same, f"{page['file']}: what {page['selector']} embeds is not {page['equals']}")
    return f"{page['selector']} of {page['file']} is {page['equals']}, byte for byte"


# 3. The trace and the numbers


def check_numbers(folder, manifest):
    trace = records(folder, "gavel-trace.json")
    values = observed(folder, trace)
    counted = 0
    for claim in manifest["claims"]:
        if not claim.get("evidence"):
            continue
        name = claim["id"]
        require(name in values, f"manifest.json: claim {name} is none that this script knows")
        compare(claim, values.pop(name))
        counted += 1
    for name in sorted(values):
        raise Wrong(f"manifest.json: the claim {name} is missing")
    return f"{counted} claims hold on the saved outputs"


def observed(folder, trace):
    """Claim id -> what the saved outputs give for it."""
    arrivals = read_arrivals(folder)
    other, exact = records(folder, "gavel-trace-1-1-1.json"), records(folder, "gavel-exact.json")
    for name, rows in (("gavel-trace", trace), ("gavel-exact", exact), ("gavel-trace-1-1-1", other)):
        check_coverage(f"outputs/{name}.json", rows, arrivals)
    # With 7 jobs, which hold one GPU each.
    seven = min(step for step in range(1, 73) if sum(a <= step for a in arrivals.values()) == 7)
    return {**counts(folder, trace), **published(folder, trace, other, seven), **best(folder, exact, seven)}


def counts(folder, trace):
    """The counts, and the checks without which `check_coverage` would have raised."""
    values = {
        "hashes-verified": checked_hashes(folder),
        "saved-values": len(trace),
        "trace-records": len(trace),
        "timesteps": len({r["step"] for r in trace}),
        "jobs": len({r["job_id"] for r in trace}),
        "first-job-id": min(r["job_id"] for r in trace),
        "last-job-id": max(r["job_id"] for r in trace),
    }
    for policy in POLICIES:
        values[f"records-{policy}"] = sum(r["policy"] == policy for r in trace)
    for name in ("unique-pairs", "all-arrivals", "both-policies", "finite-non-negative"):
        values[f"check-{name}"] = True
    return values


def published(folder, trace, other, seven):
    """The page's numbers, from the traces for 1:2:3 and 1:1:1."""
    where = "gavel-weight-summary.json"
    saved, sums, others = read_means(folder, where), sum_by_step(trace), sum_by_step(other)
    first = {policy: average(sums[policy].values()) for policy in POLICIES}
    second = {policy: average(others[policy].values()) for policy in POLICIES}
    values = {
        "aware-above-agnostic": rise(first["aware"], first["agnostic"]),
        "agnostic-below-aware": -rise(first["agnostic"], first["aware"]),
        "seven-jobs-agnostic-published": sums["agnostic"][seven],
    }
    for policy in POLICIES:
        close(f"outputs/{where}", first[policy], saved["1:2:3", policy])
        close(f"outputs/{where}", second[policy], saved["1:1:1", policy])
        values[f"check-{policy}-mean"] = first[policy] - saved["1:2:3", policy]
        values[f"weights-1-2-3-{policy}-mean"] = first[policy]
        values[f"weights-1-1-1-{policy}-mean"] = second[policy]
        values[f"weights-change-{policy}"] = rise(second[policy], first[policy])
        for part, numbers in parts(trace, sums, policy).items():
            values |= {f"{part}-{policy}-{name}": value for name, value in statistics(numbers).items()}
    return values


def best(folder, exact, seven):
    """The findings, from the trace at the exact optimum and its four saved means."""
    where = "gavel-exact-summary.json"
    saved, sums = read_means(folder, where), sum_by_step(exact)
    aware, agnostic = (saved["1:2:3", policy] for policy in POLICIES)
    values = {
        "exact-aware-above-agnostic": rise(aware, agnostic),
        "exact-agnostic-below-aware": -rise(agnostic, aware),
        "seven-jobs-agnostic-exact": sums["agnostic"][seven],
    }
    for policy in POLICIES:
        close(f"outputs/{where}", average(sums[policy].values()), saved["1:2:3", policy])
        values[f"exact-1-2-3-{policy}-mean"] = saved["1:2:3", policy]
        values[f"exact-1-1-1-{policy}-mean"] = saved["1:1:1", policy]
        values[f"exact-change-{policy}"] = rise(saved["1:1:1", policy], saved["1:2:3", policy])
        for part, numbers in parts(exact, sums, policy).items():
            if part != "baseline":
                found = statistics(numbers)
                values |= {f"exact-{part}-{policy}-{name}": found[name] for name in ("mean", "min", "max")}
    return values


def parts(rows, sums, policy):
    """All totals, those of steps 49-72, and job 12's scores at these steps."""
    return {
        "baseline": list(sums[policy].values()),
        "interval": [sums[policy][step] for step in range(49, 73)],
        "job-12": [
            r["score"] for r in rows if r["policy"] == policy and r["job_id"] == 12 and 49 <= r["step"] <= 72
        ],
    }


def records(folder, name):
    rows = json.loads((folder / "outputs" / name).read_text(encoding="utf-8"))
    fields = {"policy", "step", "job_id", "score"}
    require(isinstance(rows, list) and rows, f"outputs/{name}: holds no records")
    require(all(set(r) == fields for r in rows), f"outputs/{name}: a record has other fields than {sorted(fields)}")
    return rows


def read_arrivals(folder):
    """job id -> the step at which it arrives."""
    with (folder / "inputs/jobs.csv").open(encoding="utf-8", newline="") as file:
        return {int(row["job_id"]): int(row["arrival_step"]) for row in csv.DictReader(file)}


def check_coverage(name, rows, arrivals):
    """Each policy has each job at each step from its arrival to step 72, once, with a usable score."""
    require({r["policy"] for r in rows} == set(POLICIES), f"{name}: expected the policies {' and '.join(POLICIES)}")
    for r in rows:
        place = f"{name}: policy {r['policy']}, step {r['step']}, job {r['job_id']}"
        require(isinstance(r["score"], (int, float)) and math.isfinite(r["score"]), f"{place}: not a finite score")
        require(r["score"] >= 0, f"{place}: the score is negative")
    wanted = {(step, job) for job, arrival in arrivals.items() for step in range(arrival, 73)}
    for policy in POLICIES:
        pairs = [(r["step"], r["job_id"]) for r in rows if r["policy"] == policy]
        require(len(set(pairs)) == len(pairs), f"{name}: policy {policy} has a step and job pair twice")
        odd = sorted(wanted.symmetric_difference(pairs))
        require(not odd, f"{name}: policy {policy} lacks, or has too much, the step and job pairs {odd[:3]}")


def checked_hashes(folder):
    source = json.loads((folder / "outputs/gavel-source.json").read_text(encoding="utf-8"))
    for file in source["files"]:
        found = hashlib.sha256((folder / "outputs" / file["name"]).read_bytes()).hexdigest()
        require(found == file["sha256"], f"outputs/{file['name']}: gavel-source.json records another SHA-256")
    return len({file["name"] for file in source["files"]})


def read_means(folder, name):
    rows = json.loads((folder / "outputs" / name).read_text(encoding="utf-8"))
    means = {(r["weights"], r["policy"]): r["mean"] for r in rows}
    wanted = {(weights, policy) for weights in ("1:2:3", "1:1:1") for policy in POLICIES}
    require(set(means) == wanted and len(rows) == 4, f"outputs/{name}: expected four means")
    return means


def sum_by_step(rows):
    """policy -> {step: total}, summed exactly and rounded once."""
    sums = {policy: {} for policy in POLICIES}
    for r in rows:
        sums[r["policy"]][r["step"]] = sums[r["policy"]].get(r["step"], Fraction(0)) + Fraction(r["score"])
    return {policy: {step: float(sums[policy][step]) for step in sorted(sums[policy])} for policy in POLICIES}


def average(values):
    values = [Fraction(value) for value in values]
    return float(sum(values) / len(values))


def statistics(values):
    return {"steps": len(values), "mean": average(values), "min": min(values), "max": max(values)}


def rise(new, old):
    """How far `new` lies above `old`, in percent of `old`."""
    return float((Fraction(new) / Fraction(old) - 1) * 100)


def close(name, computed, saved):
    require(abs(computed - saved) <= 1e-10, f"{name}: saves {saved!r} where the trace gives {computed!r}")


def compare(claim, value):
    """Raise Wrong unless the observed value is within the claim's own tolerance."""
    if claim.get("type", "number") == "boolean":
        require(claim["value"] == str(value).lower(), f"claim {claim['id']}: {value}, not {claim['value']}")
        return
    stated, seen = Decimal(claim["value"]), Decimal(repr(value))
    tolerance = claim.get("tolerance", {"kind": "exact"})
    if tolerance["kind"] == "exact":
        allowed = Decimal(0)
    elif tolerance["kind"] == "half_unit":
        allowed = Decimal((0, (5,), stated.as_tuple().exponent - 1))
    else:
        allowed = Decimal(tolerance["value"]) * (abs(stated) if tolerance["kind"] == "relative" else 1)
    away = abs(seen - stated)
    require(away <= allowed, f"claim {claim['id']}: states {stated}, the saved outputs give {seen}, {away} away")


# 4. Tables and figures


def check_figures(folder):
    made = runpy.run_path(str(folder / "analysis.py"))
    points = 0
    for part, files in (("outputs", made["tables"](folder)), ("figures", made["figures"](folder))):
        for name, data in files.items():
            require((folder / part / name).is_file(), f"{part}/{name}: is missing")
            same = (folder / part / name).read_bytes() == data
            require(same, f"{part}/{name}: analysis.py makes another one from the saved outputs")
            if name.endswith(".svg"):
                points += check_points(folder, name)
    check_trace_table(folder)
    check_totals_table(folder)
    return f"tables and figures are those of analysis.py; {points} points keep their step and value"


def check_points(folder, name):
    """Every point stands where its title says, and its value is one of the trace's."""
    where = f"figures/{name}"
    root = ElementTree.parse(folder / "figures" / name).getroot()
    space = "{http://www.w3.org/2000/svg}"
    known = known_values(folder, job=12 if name == "job.svg" else None)
    places, drawn = [], set()
    for shape in root.iter():
        title = shape.find(f"{space}title")
        if shape.tag not in (f"{space}circle", f"{space}rect") or title is None:
            continue
        match = re.fullmatch(r"Step (\d+), (.+): (\S+)", title.text or "")
        require(match is not None, f"{where}: the point titled {title.text!r} lacks its step or value")
        step, series, value = int(match[1]), match[2].removeprefix("published "), float(match[3])
        expected = known.get((series, step))
        require(value == expected, f"{where}: {series} has {value!r} at step {step}, the trace {expected!r}")
        if shape.tag.endswith("circle"):
            x, y = float(shape.get("cx")), float(shape.get("cy"))
        else:
            x, y = (float(shape.get(k)) + float(shape.get(s)) / 2 for k, s in (("x", "width"), ("y", "height")))
        places.append((step, value, x, y))
        drawn.add((series, step))
    series = {name for name, _ in drawn}
    lost = sorted({key for key in known if key[0] in series} - drawn)
    require(drawn and not lost, f"{where}: the points of {lost[:3]} are lost")
    straight(where, [(step, x) for step, _, x, _ in places])
    straight(where, [(value, y) for _, value, _, y in places])
    return len(places)


def straight(where, pairs):
    """Raise Wrong unless all points lie on one straight scale, to a fiftieth of a unit."""
    (low, a), (high, b) = min(pairs), max(pairs)
    for value, place in pairs:
        expected = a + (b - a) * (value - low) / (high - low)
        require(abs(place - expected) <= 0.02, f"{where}: the point for {value!r} is drawn at {place}, not {expected:.2f}")


def known_values(folder, job):
    """(series, step) -> value, of the totals or of one job."""
    names = {"aware": "throughput-aware", "agnostic": "performance-agnostic"}
    known = {}
    for prefix, name in (("", "gavel-trace.json"), ("exact ", "gavel-exact.json")):
        rows = records(folder, name)
        if job is None:
            for policy, steps in sum_by_step(rows).items():
                known |= {(prefix + names[policy], step): total for step, total in steps.items()}
        else:
            for r in rows:
                if r["job_id"] == job:
                    known[prefix + names[r["policy"]], r["step"]] = r["score"]
    return known


def check_trace_table(folder):
    with (folder / "outputs/trace.csv").open(encoding="utf-8", newline="") as file:
        rows = [[r["policy"], int(r["step"]), int(r["job_id"]), float(r["score"])] for r in csv.DictReader(file)]
    saved = [[r["policy"], r["step"], r["job_id"], r["score"]] for r in records(folder, "gavel-trace.json")]
    require(rows == saved, "outputs/trace.csv: is not the saved trace")


def check_totals_table(folder):
    known = known_values(folder, job=None)
    names = {"aware": "throughput-aware", "agnostic": "performance-agnostic"}
    with (folder / "outputs/totals-by-step.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for policy, name in names.items():
                for mode, prefix in (("published", ""), ("exact", "exact ")):
                    same = float(row[f"{mode}_{policy}"]) == known[prefix + name, int(row["step"])]
                    require(same, f"outputs/totals-by-step.csv: step {row['step']} has another {mode} {policy} total")
    spec = json.loads((folder / "figures/totals.vl.json").read_text(encoding="utf-8"))
    for value in spec["data"]["values"]:
        prefix = "exact " if value["mode"] == "exact" else ""
        same = value["total"] == known[prefix + value["policy"], value["step"]] == float(value["value"])
        require(same, f"figures/totals.vl.json: step {value['step']} has another {value['mode']} {value['policy']} total")


# 5. The notebook


def check_notebook(folder):
    path = "notebook/gavel-allocation.ipynb"
    notebook = json.loads((folder / path).read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    require(cells, f"{path}: has no code cell")
    names = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder / "notebook")
    try:
        for number, cell in enumerate(cells, start=1):
            where = f"{path}: cell {number}"
            require(cell["execution_count"] == number, f"{where} was not executed in order")
            try:
                seen = execute("".join(cell["source"]), names)
            except Exception as error:
                raise Wrong(f"{where} ends with {type(error).__name__}: {error}") from error
            saved = [shown(output, where) for output in cell["outputs"]]
            require(saved == seen, f"{where} gives another output than the saved one")
    finally:
        os.chdir(before)
    return f"{len(cells)} cells give their saved outputs again"


def execute(source, names):
    """Run one cell as a notebook does; what it shows, as a list of texts and drawings."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    out = [{"stdout": printed.getvalue()}] if printed.getvalue() else []
    if value is not None:
        data = {"text/plain": repr(value)}
        if hasattr(value, "_repr_svg_"):
            data["image/svg+xml"] = value._repr_svg_()
        out.append(data)
    return out


def shown(output, where):
    """A saved output in the form of `execute`."""
    if output["output_type"] == "stream" and output["name"] == "stdout":
        return {"stdout": "".join(output["text"])}
    require(output["output_type"] == "execute_result", f"{where} saved an output of kind {output['output_type']}")
    return {kind: "".join(text) for kind, text in output["data"].items()}


def main(arguments):
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        print(__doc__.split("\n")[0])
        return 0 if arguments in (["-h"], ["--help"]) else 2
    folder = Path(arguments[0] if arguments else Path(__file__).resolve().parent).resolve()
    failed = 0
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"WRONG manifest  can't be read: {error}")
        return 1
    checks = {
        "files": lambda: check_files(folder, manifest),
        "source": lambda: check_source(folder, manifest),
        "numbers": lambda: check_numbers(folder, manifest),
        "figures": lambda: check_figures(folder),
        "notebook": lambda: check_notebook(folder),
    }
    for name, check in checks.items():
        try:
            print(f"ok    {name:<9} {check()}")
        except Wrong as error:
            failed += 1
            print(f"WRONG {name:<9} {error}")
        except Exception as error:  # a damaged file can break any reader below
            failed += 1
            print(f"WRONG {name:<9} can't be checked: {type(error).__name__}: {error}")
    print("All five checks passed." if not failed else f"{failed} of {len(checks)} checks failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
