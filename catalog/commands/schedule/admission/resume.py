"""`proofshelf schedule admission resume`."""

from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.schedule.admission.searching import do_search


@click.command("resume")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Processes; the result is the same with any number.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0, min_open=True),
              help="Stop earlier, and say so.")  # fmt: skip
@click.option(
    "--memory", type=click.IntRange(1), metavar="MB", help="Refuse where more is to be expected; an estimate."
)
@json_option
def command(run: Path, workers: int, seconds: float | None, memory: int | None, as_json: bool) -> int:
    """Go on with a search that was stopped or killed.

    RUN is its folder. It ends with the same bytes as a search that was never stopped. With code that
    changed since, it is refused: begin anew.

    \b
    Examples:
      proofshelf schedule admission resume runs/unfinished
    """
    from catalog.code_version import code_version
    from catalog.run_folders import RUN, request_of
    from catalog.schedule_runs import WORKLOAD
    from scheduling_core.admission.formats import read_workload

    request = request_of(run)
    if (run / RUN).exists():
        raise Refused(f"{run} has ended already; nothing is left to do")
    if request.get("command") not in ("search", "refine"):
        raise Refused(f"{run} is a run of `{request.get('command')}`, which isn't resumed; run it again")
    version, commit = code_version()
    missing = [n for n in ("code_version", "git_commit", "parameters") if n not in request]
    if missing:
        raise Refused(f"{run / 'request.json'} has no {missing[0]!r}, so it isn't the request of a run")
    if (request["code_version"], request["git_commit"]) != (version, commit):
        raise Refused(
            f"{run} was begun by version {request['code_version']} ({request['git_commit']}), this is "
            f"{version} ({commit}); begin the search anew"
        )
    workload = read_workload(run / WORKLOAD).workload
    parameters = request["parameters"]
    if workload.sha256 != parameters["workload_sha256"]:
        raise Refused(f"{run / WORKLOAD} isn't the workload that the search was begun with")
    return do_search(run, workload, parameters, workers, seconds, memory, as_json)
