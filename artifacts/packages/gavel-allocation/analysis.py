"""Make the tables and figures of this package again from its saved outputs.

    python analysis.py                            write outputs/*.csv and figures/* here
    python analysis.py --to FOLDER                write them somewhere else
    python analysis.py --start-step 49 --end-step 72 --job-id 12
                                                  answer one question, write nothing

Standard library only. Sums are correctly rounded (math.fsum) and numbers are written with all their
digits, so the same saved outputs give the same bytes on every machine.
"""

import argparse
import csv
import io
import json
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

POLICIES = ("aware", "agnostic")
NAMES = {"aware": "Throughput-aware", "agnostic": "Performance-agnostic"}
START_STEP, END_STEP, JOB_ID = 49, 72, 12
WEIGHTS = ("1:2:3", "1:1:1")


# Reading and aggregating


def read(folder, name):
    """A saved output, which is a list of records."""
    return json.loads((Path(folder) / "outputs" / name).read_text(encoding="utf-8"))


def totals(records):
    """policy -> {step: sum of the scores of the jobs that have arrived}, steps in order."""
    scores = {policy: {} for policy in POLICIES}
    for record in records:
        scores[record["policy"]].setdefault(record["step"], []).append(record["score"])
    return {
        policy: {step: math.fsum(steps[step]) for step in sorted(steps)} for policy, steps in scores.items()
    }


def jobs_at(records):
    """step -> number of jobs that have arrived."""
    counts = {}
    for record in records:
        if record["policy"] == POLICIES[0]:
            counts[record["step"]] = counts.get(record["step"], 0) + 1
    return counts


def job_scores(records, job_id, start, end):
    """policy -> {step: score} of one job in an interval; steps before its arrival aren't there."""
    found = {policy: {} for policy in POLICIES}
    for record in records:
        if record["job_id"] == job_id and start <= record["step"] <= end:
            found[record["policy"]][record["step"]] = record["score"]
    return found


def summary(values):
    """Number, mean, smallest and largest of some values; None where there are none."""
    values = list(values)
    if not values:
        return [0, None, None, None]
    return [len(values), math.fsum(values) / len(values), min(values), max(values)]


def between(steps, start, end):
    return [value for step, value in steps.items() if start <= step <= end]


def percent(new, old):
    """How far `new` lies above `old`, in percent of `old`."""
    return (new / old - 1) * 100


# Tables


def table(columns, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if v is None else repr(v) if isinstance(v, float) else v for v in row])
    return text.getvalue().encode("utf-8")


def tables(folder):
    """File name -> bytes of every CSV table."""
    modes = {"published": read(folder, "gavel-trace.json"), "exact": read(folder, "gavel-exact.json")}
    means = {(r["mode"], r["weights"], r["policy"]): r["mean"] for r in read(folder, "gavel-weight-summary.json")}
    means |= {(r["mode"], r["weights"], r["policy"]): r["mean"] for r in read(folder, "gavel-exact-summary.json")}
    sums = {mode: totals(records) for mode, records in modes.items()}
    count = jobs_at(modes["published"])
    statistics = ["steps", "mean", "min", "max"]

    baseline, interval, job, weights, comparison = [], [], [], [], []
    for mode, records in modes.items():
        one = job_scores(records, JOB_ID, START_STEP, END_STEP)
        for policy in POLICIES:
            by_step = sums[mode][policy]
            baseline.append([mode, policy, *summary(by_step.values())])
            interval.append(
                [mode, policy, START_STEP, END_STEP, *summary(between(by_step, START_STEP, END_STEP))]
            )
            job.append([mode, policy, JOB_ID, START_STEP, END_STEP, *summary(one[policy].values())])
            first, second = (means[mode, w, policy] for w in WEIGHTS)
            weights.append([mode, policy, first, second, percent(second, first)])
        aware, agnostic = (summary(sums[mode][policy].values())[1] for policy in POLICIES)
        comparison.append([mode, percent(aware, agnostic), -percent(agnostic, aware)])

    series = [(policy, mode) for policy in POLICIES for mode in modes]
    by_step = [[step, count[step], *(sums[m][p][step] for p, m in series)] for step in count]
    first_step = {}
    for step, jobs in count.items():
        first_step.setdefault(jobs, step)
    by_jobs = [[jobs, *(sums[m][p][step] for p, m in series)] for jobs, step in first_step.items()]
    names = [f"{mode}_{policy}" for policy, mode in series]
    trace_columns = ["policy", "step", "job_id", "score"]
    return {
        "baseline.csv": table(["mode", "policy", *statistics], baseline),
        "comparison.csv": table(
            ["mode", "aware_above_agnostic_percent", "agnostic_below_aware_percent"], comparison
        ),
        "interval.csv": table(["mode", "policy", "start_step", "end_step", *statistics], interval),
        "job.csv": table(["mode", "policy", "job_id", "start_step", "end_step", *statistics], job),
        "weights.csv": table(["mode", "policy", "mean_1_2_3", "mean_1_1_1", "change_percent"], weights),
        "totals-by-step.csv": table(["step", "jobs", *names], by_step),
        "totals-by-jobs.csv": table(["jobs", *names], by_jobs),
        "trace.csv": table(trace_columns, [[r[c] for c in trace_columns] for r in modes["published"]]),
    }


# Figures: a point for each value, and a level that is held until the next step; nothing between

WIDTH, HEIGHT = 900, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 64, 48
COLOURS = {"aware": "#0f58a8", "agnostic": "#8a5a00"}


def svg(title, description, series, first, last, top):
    """A chart as SVG. `series` holds (name, policy, hollow, {step: value}) in drawing order."""

    def x(step):
        return LEFT + (step - first) * (WIDTH - LEFT - RIGHT) / (last + 1 - first)

    def y(value):
        return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM) / top

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fbfaf7"/>',
        f'<text x="{LEFT}" y="24" font-size="16" fill="#1c1b19">{escape(title)}</text>',
    ]
    legend = LEFT
    for name, policy, hollow, _ in series:
        out.append(mark(policy, hollow, legend + 5, 44, ""))
        out.append(f'<text x="{legend + 15:.2f}" y="48" font-size="12" fill="#1c1b19">{escape(name)}</text>')
        legend += 36 + 6.2 * len(name)
    ticks = [top * i / 4 for i in range(5)]
    for value in ticks:
        out.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.2f}" y2="{y(value):.2f}" stroke="#e3dfd6"/>'
        )
        out.append(
            f'<text x="{LEFT - 8}" y="{y(value) + 4.5:.2f}" text-anchor="end" fill="#6a665e">{value:g}</text>'
        )
    for step in range(first, last + 1):
        if (step - 1) % (12 if last - first > 36 else 4) == 0 or step == last:
            out.append(
                f'<text x="{x(step):.2f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle"'
                f' fill="#6a665e">{step}</text>'
            )
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle:.2f}" y="{HEIGHT - 10}" text-anchor="middle" fill="#6a665e">step</text>')
    for name, policy, hollow, values in series:
        out.append(f'<g data-series="{escape(name)}">')
        dash = ' stroke-dasharray="2 2"' if hollow else ""
        held = " ".join(f"M{x(s):.2f} {y(v):.2f}H{x(s + 1):.2f}" for s, v in values.items())
        out.append(f'<path d="{held}" stroke="{COLOURS[policy]}" fill="none"{dash}/>')
        for step, value in values.items():
            label = f"<title>Step {step}, {escape(name)}: {value!r}</title>"
            out.append(mark(policy, hollow, x(step), y(value), label))
        out.append("</g>")
    out.append("</svg>")
    return ("\n".join(out) + "\n").encode("utf-8")


def mark(policy, hollow, x, y, label):
    """A circle for one policy, a square for the other; hollow, and larger, for the exact optimum."""
    fill = "none" if hollow else COLOURS[policy]
    style = f'fill="{fill}" stroke="{COLOURS[policy]}"'
    half = 4.2 if hollow else 2.4
    if policy == "aware":
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{half}" {style}>{label}</circle>'
    place = f'x="{x - half:.2f}" y="{y - half:.2f}" width="{2 * half:.1f}" height="{2 * half:.1f}"'
    return f"<rect {place} {style}>{label}</rect>"


def figures(folder):
    """File name -> bytes of every figure."""
    published, exact = read(folder, "gavel-trace.json"), read(folder, "gavel-exact.json")
    sums, best, count = totals(published), totals(exact), jobs_at(published)
    last = max(count)
    note = (
        "Each point is the sum of the scores of the jobs that have arrived at that step, and its title keeps"
        " step and value. A level is held until the next step; no point is interpolated."
    )
    both = [(NAMES[p].lower(), p, False, sums[p]) for p in POLICIES]
    against = []
    for policy in POLICIES:
        against.append((f"exact {NAMES[policy].lower()}", policy, True, best[policy]))
        against.append((f"published {NAMES[policy].lower()}", policy, False, sums[policy]))
    one = job_scores(published, JOB_ID, START_STEP, END_STEP)
    single = [(NAMES[p].lower(), p, False, one[p]) for p in POLICIES]
    return {
        "totals.svg": svg("Totals by step, weights 1:2:3", note, both, 1, last, 12),
        "totals-exact.svg": svg("Totals by step, published and exact optimum", note, against, 1, last, 12),
        "job.svg": svg(
            f"Job {JOB_ID}, steps {START_STEP} to {END_STEP}",
            "Each point is the score of this job at that step, and its title keeps step and value.",
            single,
            START_STEP,
            END_STEP,
            2,
        ),
        "totals.vl.json": vega_lite(sums, best, count),
    }


def vega_lite(sums, best, count):
    """The totals as a Vega-Lite specification with its data inside."""
    values = []
    for policy in POLICIES:
        for mode, by_step in (("published", sums), ("exact", best)):
            for step, total in by_step[policy].items():
                values.append(
                    {
                        "step": step,
                        "jobs": count[step],
                        "policy": NAMES[policy].lower(),
                        "mode": mode,
                        "total": total,
                        "value": repr(total),
                    }
                )
    colour = {
        "field": "policy",
        "type": "nominal",
        "title": "policy",
        "scale": {"domain": [NAMES[p].lower() for p in POLICIES], "range": [COLOURS[p] for p in POLICIES]},
    }
    x = {"field": "step", "type": "quantitative", "title": "step", "scale": {"domain": [1, max(count) + 1]}}
    y = {"field": "total", "type": "quantitative", "title": "total of the scores of the jobs that have arrived"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Totals by step, weights 1:2:3: published and exact optimum",
        "description": "A level is held until the next step; no point is interpolated.",
        "width": "container",
        "height": 320,
        "data": {"name": "totals", "values": "VALUES"},
        "encoding": {"x": x, "y": y, "color": colour},
        "layer": [
            {
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1},
                "encoding": {
                    "strokeDash": {
                        "field": "mode",
                        "type": "nominal",
                        "title": "mode",
                        "scale": {"domain": ["published", "exact"], "range": [[1, 0], [3, 3]]},
                    }
                },
            },
            {
                "mark": {"type": "point", "size": 28, "filled": True},
                "encoding": {
                    "shape": {
                        "field": "mode",
                        "type": "nominal",
                        "title": "mode",
                        "scale": {"domain": ["published", "exact"], "range": ["circle", "triangle-up"]},
                    },
                    "tooltip": [
                        {"field": name, "type": "nominal", "title": "total" if name == "value" else name}
                        for name in ("step", "jobs", "policy", "mode", "value")
                    ],
                },
            },
        ],
    }
    lines = ",\n".join("  " + json.dumps(value, ensure_ascii=False) for value in values)
    text = json.dumps(spec, indent=1, ensure_ascii=False).replace('"VALUES"', "[\n" + lines + "\n ]")
    return (text + "\n").encode("utf-8")


# Command line


def write(folder, to):
    """Write all tables and figures below `to`; the list of paths written."""
    written = []
    for part, files in (("outputs", tables(folder)), ("figures", figures(folder))):
        (Path(to) / part).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (Path(to) / part / name).write_bytes(data)
            written.append(f"{part}/{name}")
    return written


def answer(folder, start, end, job_id):
    """The page's own question for any interval and job, as lines of text."""
    records = read(folder, "gavel-trace.json")
    head = f"{'Policy':<22}{'Steps':>7}{'Mean':>13}{'Min':>13}{'Max':>13}"

    def line(policy, values):
        n, *numbers = summary(values)
        if not n:
            return f"{NAMES[policy]:<22}{n:>7}  not arrived"
        return f"{NAMES[policy]:<22}{n:>7}" + "".join(f"{number:>13.6f}" for number in numbers)

    sums, one = totals(records), job_scores(records, job_id, start, end)
    return [
        f"All active jobs, steps {start} to {end}:",
        head,
        *(line(p, between(sums[p], start, end)) for p in POLICIES),
        "",
        f"Job {job_id}, selected steps after its arrival only:",
        head,
        *(line(p, one[p].values()) for p in POLICIES),
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help="the package")
    parser.add_argument("--to", type=Path, help="where to write (default: into the package)")
    parser.add_argument("--start-step", type=int)
    parser.add_argument("--end-step", type=int)
    parser.add_argument("--job-id", type=int)
    given = parser.parse_args(arguments)
    question = (given.start_step, given.end_step, given.job_id)
    if any(part is not None for part in question):
        start, end, job_id = (
            default if part is None else part
            for part, default in zip(question, (START_STEP, END_STEP, JOB_ID), strict=True)
        )
        if not 1 <= start <= end <= 72 or not 0 <= job_id <= 17:
            parser.error("expected 1 <= start-step <= end-step <= 72 and a job id from 0 to 17")
        print("\n".join(answer(given.folder, start, end, job_id)))
        return 0
    for path in write(given.folder, given.to or given.folder):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
