"""`proofshelf screen run`."""

from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from catalog.asking.costs import Prices
from catalog.asking.models import Asker
from catalog.asking.rounds import AskReport, Pace, ask_round
from catalog.commands.errors import Refused
from catalog.commands.library import who, writing
from catalog.commands.options import Whole, database_option, json_option
from catalog.commands.output import print_json, progress, say
from catalog.commands.words import count
from catalog.screening_pages import RoundView

SHOWN = 10
INCOMPLETE = 4


class Price(click.ParamType[Decimal]):
    """A decimal of 0 or more."""

    name = "price"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """The number, exactly as it was written."""
        try:
            price = Decimal(value)
        except InvalidOperation:
            price = Decimal("NaN")
        if not price.is_finite() or price < 0:
            self.fail(f"{value!r} is no price; expected a number such as 0.15", param, ctx)
        return price


@click.command("run")
@click.argument("round_", metavar="ROUND")
@click.option("--rater", required=True, help="The study's rater of kind `model` that is asked.")
@click.option("--chunks", type=Whole(1), metavar="N", help="At most so many chunks; else all that are left.")
@click.option("--max-attempts", type=click.IntRange(1, 20), default=3, show_default=True,
              help="How often one chunk is asked.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="PER_MINUTE",
              help="At most so many requests a minute.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, 86400, min_open=True), default=300, show_default=True,
              metavar="SECONDS", help="How long to wait for one answer.")  # fmt: skip
@click.option("--option", "options", nargs=2, multiple=True, metavar="NAME VALUE",
              help="An option of the model, such as temperature 0; recorded with every answer.")  # fmt: skip
@click.option("--key", metavar="NAME", help="The name of a key that `llm keys set` stored.")
@click.option("--cost-per-million-input", "price_in", type=Price(), help="Price of a million tokens read.")
@click.option("--cost-per-million-output", "price_out", type=Price(), help="Price of a million written.")
@database_option
@json_option
def command(
    round_: str, rater: str, chunks: int | None, max_attempts: int, rate: float | None, timeout: float,
    options: tuple[tuple[str, str], ...], key: str | None,
    price_in: Decimal | None, price_out: Decimal | None, db: Path, as_json: bool,
) -> int:  # fmt: skip
    """Ask a model for its votes on a round.

    The model is asked through the `llm` library, by any plugin of it: the rubric, then the works of one
    chunk with only what the instrument shows. An answer is taken whole or not at all; one that can't be
    taken is kept in quarantine and the same is asked again. The same command goes on where it stopped,
    and asks nothing twice that was answered.

    Exit code 4: chunks are left without an answer that can be taken.

    \b
    Examples:
      proofshelf screen run pilot-screen --rater rule
      proofshelf screen run pilot-screen --rater rule --chunks 2 --rate 60 --json
    """
    if (price_in is None) != (price_out is None):
        raise click.UsageError("--cost-per-million-input and --cost-per-million-output go together")
    prices = None if price_in is None or price_out is None else Prices(price_in, price_out)
    names = [name for name, _ in options]
    if len(set(names)) < len(names):
        raise click.UsageError("an --option is given twice")

    def asker(view: RoundView) -> Asker:
        found = next((row.rater for row in view.coverage if row.rater.id == rater), None)
        if found is None:
            raters = ", ".join(row.rater.id for row in view.coverage)
            raise Refused(f"{rater!r} is no rater of round {round_}; expected one of {raters}")
        return Asker(found, dict(options), key, timeout)

    with writing(db) as catalog, progress(f"Asking {rater}") as step:
        report = ask_round(
            catalog, round_, rater, asker, chunks=chunks, max_attempts=max_attempts, prices=prices,
            pace=Pace(rate), who=who(), progress=step,
        )  # fmt: skip
    if as_json:
        print_json(report)
    else:
        _show(report, chunks)
    return INCOMPLETE if report.stopped or _gave_up(report, chunks) else 0


def _gave_up(report: AskReport, chunks: int | None) -> int:
    """Chunks that were asked and still have no votes."""
    asked = report.left + report.accepted if chunks is None else min(chunks, report.left + report.accepted)
    return asked - report.accepted


def _show(report: AskReport, chunks: int | None) -> None:
    say(f"{report.rater} [machine, {report.model}] on {report.round}: {report.votes:,} votes from "
        f"{count(report.accepted, 'chunk')}; {report.already:,} of {count(report.chunks, 'chunk')} "
        f"had been answered before, {report.left:,} left.")  # fmt: skip
    if report.quarantined_attempts or report.failed_attempts:
        say(f"{count(report.quarantined_attempts, 'answer')} in quarantine, "
            f"{count(report.failed_attempts, 'request')} without an answer; neither is a vote.")  # fmt: skip
    alike = Counter((p.chunk, p.state, p.report) for p in report.problems)
    for (chunk, state, sentences), times in list(alike.items())[:SHOWN]:
        often = "" if times == 1 else f", {times} times"
        say(f"chunk {chunk}, {state}{often}: {'; '.join(sentences)}", style="yellow", indent=2)
    if len(alike) > SHOWN:
        say(f"and {len(alike) - SHOWN:,} more; all are kept", indent=2)
    if report.input_tokens or report.output_tokens:
        cost = "" if report.cost is None else f"; cost {report.cost} at the prices given"
        say(f"{report.input_tokens:,} tokens read, {report.output_tokens:,} written{cost}.")
    if report.uncounted:
        say(f"{count(report.uncounted, 'answer')} came without a full count of tokens, so more was used than "
            "any count or cost here says.")  # fmt: skip
    if report.stopped:
        say(report.stopped[:1].upper() + report.stopped[1:] + ".", style="bold yellow")
