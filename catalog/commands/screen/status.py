"""`proofshelf screen status`."""

from pathlib import Path

import click

from catalog import screening_queries
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, print_json, say
from catalog.commands.screen.tables import coverage_table, states_line, statuses, strata_table
from catalog.commands.words import count, moment
from catalog.screening_pages import RoundView, SampleView, StudyPage, StudySummary


@click.command("status")
@click.argument("study", required=False)
@database_option
@json_option
def command(study: str | None, db: Path, as_json: bool) -> None:
    """Show how far a study is, or list the studies.

    Votes of people and of machines are counted apart. A work on which nobody could judge is unknown,
    and a missing vote is none.

    \b
    Examples:
      proofshelf screen status
      proofshelf screen status pilot
      proofshelf screen status pilot --json
    """
    with reading(db) as connection:
        if study is None:
            found = screening_queries.studies(connection)
            print_json({"studies": found}) if as_json else _list(found)
            return
        page = screening_queries.study_page(connection, study)
    print_json(page) if as_json else _show(page)


def _list(found: tuple[StudySummary, ...]) -> None:
    if not found:
        say("No studies yet: proofshelf screen design --example shows one.")
        return
    numbers = ("version", "rounds", "works", "human votes", "machine votes", "releases")
    table = Table((Column("study"), *(Column(n, "right") for n in numbers), Column("title", prose=True)))
    for row in found:
        version = "published" if row.version is None else str(row.version)
        cells = (row.rounds, row.works, row.human_votes, row.machine_votes, row.releases)
        notes = ["synthetic: made up, to try things out"] if row.synthetic else []
        table.add(row.slug, version, *(f"{n:,}" for n in cells), row.title, notes=notes)
    table.show()


def _show(page: StudyPage) -> None:
    say(page.title, style="bold")
    if page.versions:
        newest = max(page.versions, key=lambda v: v.version)
        say(f"{page.slug}, version {newest.version} · {newest.sha256} · "
            f"{moment(newest.recorded_at)} by {newest.recorded_by}")  # fmt: skip
    else:
        say(f"{page.slug} · votes published elsewhere")
    if page.synthetic:
        say("Synthetic: made up, to try things out.", style="bold yellow")
    for sample in page.samples:
        _sample(sample)
    for view in page.rounds:
        _round(view)
    if page.releases:
        heading("Models")
    for release in page.releases:
        say(f"{release.slug}: {release.title}", indent=2)
        say(
            f"Status: {release.status}; {release.scored:,} of {count(release.works, 'work')} scored.",
            indent=4,
        )
    if page.caveats:
        heading("Read with these data")
        for text in page.caveats:
            say(text, indent=2, bullet="- ")


def _sample(view: SampleView) -> None:
    heading(f"Sample {view.design.id}")
    if view.drawn is None or view.frame_size is None:
        say(f"Not drawn yet: proofshelf screen sample {view.study} {view.design.id}", indent=2)
        return
    say(f"{view.drawn:,} of {count(view.frame_size, 'work')} (frame sha256 {view.frame_sha256})", indent=2)
    strata_table(view.strata).show()


def _round(view: RoundView) -> None:
    round_ = view.round
    heading(f"Round {round_.id}: {round_.title}")
    facts = [
        f"instrument: {round_.instrument}",
        f"panel of {round_.panel}",
        f"votes: {statuses(view.statuses)}" if view.statuses else "no votes yet",
    ]
    if view.sample:
        facts.append(f"sample {view.sample}")
    say(" · ".join(facts), indent=2)
    if round_.origin == "harness" and not view.has_manifest:
        say(f"No chunks yet: proofshelf screen manifest {round_.id}", indent=2)
        return
    say(f"{view.rated:,} of {count(view.works, 'work')} rated by the whole panel.", indent=2)
    coverage_table(view.coverage).show()
    part = "" if view.rated == view.works else " by the votes cast so far, which may change"
    say(f"In scope{part}: {states_line(view.states.items())}.", indent=2)
    if view.contested:
        say(f"{view.contested:,} contested, {view.adjudicated:,} of them adjudicated.", indent=2)
