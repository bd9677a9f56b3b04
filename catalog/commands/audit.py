"""`proofshelf audit`."""

from pathlib import Path

import click

from catalog.commands.options import database_option, json_option
from catalog.commands.output import note, plain, print_json, say
from catalog.commands.words import count
from catalog.store import AuditReport, open_catalog


@click.command("audit")
@click.option("--expect", metavar="HASH", help="A head noted earlier: it must still stand in the chain.")
@click.option("--objects", is_flag=True, help="Also hash every stored file again.")
@database_option
@json_option
def command(expect: str | None, objects: bool, db: Path, as_json: bool) -> int:
    """Check that no verification was removed, edited or slipped in.

    Prints the head of the chain: note it or sign it, and give it to --expect later. Exit code 3 when
    something isn't as it was written; the first problem is named first.

    \b
    Examples:
      proofshelf audit
      proofshelf audit --objects --json
      proofshelf audit --expect 5f0c9a4be1a4c1f5f6a3f1d1b8e1a7d2c3b4a59687786950413223140f0e0d0c
    """
    with open_catalog(db, writable=False) as catalog:
        report = catalog.audit(expect=expect, objects=objects)
    if as_json:
        print_json({"sound": report.sound, **plain(report)})
    else:
        _show(report)
    return 0 if report.sound else 3


def _show(report: AuditReport) -> None:
    runs = count(report.runs, "verification")
    files = "" if report.objects is None else f", {count(report.objects, 'stored file')}"
    if report.sound:
        say(f"SOUND  {runs}{files}: every run and its checks are as they were written.", style="bold green")
    else:
        say(f"NOT SOUND  {report.problems[0].sentence}", style="bold red")
        for problem in report.problems[1:]:
            say(f"also: {problem.sentence}", indent=2)
        say(f"{runs}{files} looked at.")
    for sentence in report.notes:
        note(f"note: {sentence}")
    if report.expected == "ancestor":
        say("The expected hash stands in the chain; runs were added since.")
    say(f"head {report.head}" + (f" (run {report.last})" if report.last else " (no run yet)"))
