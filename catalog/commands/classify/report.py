"""`proofshelf classify report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from catalog import screening_queries
from catalog.commands.classify.tables import gate_lines
from catalog.commands.errors import Refused
from catalog.commands.files import free, replacing
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, print_json, say
from catalog.model_figures import CALIBRATION_FIGURES, CHANCE_NOTE
from catalog.screening_pages import ModelPage


@click.command("report")
@click.argument("release")
@click.option("--to", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write every chart as SVG, with its Vega-Lite specification.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace charts that are there.")
@database_option
@json_option
def command(release: str, folder: Path | None, force: bool, db: Path, as_json: bool) -> None:
    """Show how well a release is calibrated, before and after.

    All figures are out of fold. They say how far a head agrees with the rater that it imitates, not how
    far either is right. `proofshelf verify RELEASE` computes them again.

    \b
    Examples:
      proofshelf classify report synthetic-r1
      proofshelf classify report synthetic-r1 --to charts --force
    """
    with reading(db) as connection:
        page = screening_queries.model_page(connection, release)
    if page.record is None:
        raise Refused(
            f"release {release} came with a package and brought no figures of its calibration; "
            f"`proofshelf show {release}` has what it brought"
        )
    charts = {} if folder is None else _write_charts(page.record, folder, force)
    if as_json:
        print_json({"release": page.release, "report": page.record, "charts": charts})
        return
    _show(page)
    for path in charts.values():
        say(f"Wrote {path}")


def _show(page: ModelPage) -> None:
    assert page.record is not None
    record = page.record
    say(page.release.title, style="bold")
    say(f"Status of its scores: {page.release.status}. Learned from {record['works']:,} works of "
        f"{', '.join(record['rounds'])}, labels {', '.join(record['label_statuses'])}; "
        f"figures {record['status']}.")  # fmt: skip
    for head in record["heads"]:
        heading(f"{head['head']} for {head['category']}")
        counts, found = head["counts"], head["calibration"] or {}
        say(f"{counts['positives']:,} positive, {counts['negatives']:,} negative; in no figure: "
            f"{counts['unknown']:,} unknown, {counts['without_text']:,} without text.", indent=2)  # fmt: skip
        reason = head["reason"] or found.get("reason")
        if head["availability"] != "available" or found.get("status") != "available":
            say(f"{found.get('status', head['availability'])}: {reason}", indent=2)
        measured = _at(record["report"]["outputs"]["heads"], (head["head"], head["category"])) or {}
        if found.get("after") is None or measured.get("after") is None:
            continue
        say(f"Calibrated by {found['choice']['method']}, chosen by nested cross-fitting.", indent=2)
        table = Table((Column("figure"), Column("before", "decimal"), Column("after", "decimal"),
                       Column("95 % interval after")), indent=2)  # fmt: skip
        for figure in CALIBRATION_FIGURES:
            before, after = figure.of(measured["before"]), figure.of(measured["after"])
            places = figure.decimals
            table.add(figure.name, _number(before, places), _number(after, places), _interval(after, places))
        table.show()
        say(CHANCE_NOTE, indent=2)
        _reliability(measured["after"]["reliability"])
    gate_lines(record["gate"])


def _reliability(bins: list[Mapping[str, Any]]) -> None:
    say("Reliability, bins of about as many positives:", indent=2)
    table = Table((
        Column("mean probability", "decimal"), Column("rate of positives", "decimal"),
        Column("95 % interval"), Column("works", "right"), Column("positives", "right"),
    ), indent=2)  # fmt: skip
    for row in bins:
        table.add(
            f"{row['predicted']:.4f}", f"{row['observed']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}",
            f"{row['records']:,}", f"{row['positives']:,}",
        )  # fmt: skip
    table.show()


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _number(value: Any, decimals: int) -> str:
    value = value.get("value") if isinstance(value, Mapping) else value
    return "undefined" if value is None else f"{value:.{decimals}f}"


def _interval(value: Any, decimals: int) -> str:
    """The interval of a figure that is meant to have one; empty for the others, and without a value."""
    if not isinstance(value, Mapping) or value.get("value") is None:
        return ""
    if value.get("low") is None or value.get("high") is None:
        return "none"
    return f"{value['low']:.{decimals}f} to {value['high']:.{decimals}f}"


def _write_charts(record: Mapping[str, Any], folder: Path, force: bool) -> dict[str, str]:
    """Every chart as SVG and as its specification; names tell head, category and kind."""
    import json

    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for stem, spec in record["report"]["charts"].items():
        text = json.dumps(spec, ensure_ascii=False, indent=1) + "\n"
        svg = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
        for ending, content in ((".vl.json", text), (".svg", svg)):
            path = folder / f"{stem}{ending}"
            free(path, force)
            with replacing(path) as stream:
                stream.write(content)
        written[stem] = str(folder / f"{stem}.svg")
    return written
