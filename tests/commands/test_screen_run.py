"""`screen run` as a person at a shell meets it: exit codes, sentences, and what JSON says."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run_line(run: Any, more: str = "", rater: str = "rule") -> Any:
    return run("screen", "run", "all", "--rater", rater, *more.split())


def test_it_asks_what_is_left_and_nothing_twice(run: Any, tea: Path) -> None:
    first = run_line(run, "--chunks 1")
    assert first.exit_code == 0
    assert "rule [machine, proofshelf-keywords] on all: 4 votes from 1 chunk" in first.stdout
    assert "0 of 3 chunks had been answered before, 2 left." in first.stdout
    facts = json.loads(run_line(run, "--json").stdout)
    assert (facts["already"], facts["accepted"], facts["left"], facts["votes"]) == (1, 2, 0, 6)
    assert json.loads(run_line(run, "--json").stdout)["accepted"] == 0


def test_tokens_and_cost_are_told(run: Any, tea: Path) -> None:
    line = "--cost-per-million-input 1000000 --cost-per-million-output 0 --json"
    facts = json.loads(run_line(run, line).stdout)
    # A token costs exactly 1 at a million a million.
    assert facts["cost"] == str(facts["input_tokens"])
    page = json.loads(run("screen", "status", "tea", "--json").stdout)
    rule = next(r for r in page["rounds"][0]["coverage"] if r["rater"]["id"] == "rule")
    assert (rule["input_tokens"], rule["cost"]) == (facts["input_tokens"], facts["cost"])


def test_what_is_left_without_an_answer_is_exit_code_4(run: Any, tea: Path) -> None:
    # "cannot" stands alone, and these words bring it beside "trial": every answer is refused.
    result = run(
        "screen", "run", "all", "--rater", "rule", "--max-attempts", "2",
        "--option", "words", '{"trial": ["tea"], "cannot": ["tea"]}',
    )  # fmt: skip
    assert result.exit_code == 4
    assert "6 answers in quarantine, 0 requests without an answer; neither is a vote." in result.stdout
    assert "quarantined, 2 times:" in result.stdout
    assert "cannot stands alone" in result.stdout
    page = json.loads(run("screen", "status", "tea", "--json").stdout)
    rule = next(r for r in page["rounds"][0]["coverage"] if r["rater"]["id"] == "rule")
    assert (rule["voted"], rule["quarantined"]) == (0, 6)


@pytest.mark.parametrize(
    ("rater", "more", "code", "sentence"),
    [
        ("zoe", "", 1, "'zoe' is no rater of round all; expected one of ada, ben, rule"),
        ("ada", "", 1, "rater 'ada' is a person; `proofshelf screen queue` is where people screen"),
        ("rule", "--option heat 1", 1,
         "option 'heat' of proofshelf-keywords: no such option; it has words"),
        ("rule", "--option words {} --option words {}", 2,
         "an --option is given twice; `proofshelf screen run --help` shows how"),
        ("rule", "--cost-per-million-input 1", 2,
         "--cost-per-million-input and --cost-per-million-output go together; "
         "`proofshelf screen run --help` shows how"),
        ("rule", "--cost-per-million-input x --cost-per-million-output 1", 2,
         "invalid value for '--cost-per-million-input': 'x' is no price; expected a number such as 0.15; "
         "`proofshelf screen run --help` shows how"),
        ("rule", "--key mine", 1, "there is no key 'mine'; `llm keys set mine` stores one"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(
    run: Any, tea: Path, rater: str, more: str, code: int, sentence: str
) -> None:
    result = run_line(run, more, rater)
    assert (result.exit_code, result.stderr) == (code, f"proofshelf: {_rooted(sentence)}\n")


def _rooted(sentence: str) -> str:
    """Click's test runner calls the program `cli`."""
    return sentence.replace("`proofshelf screen run --help`", "`cli screen run --help`")


def test_a_round_without_chunks_says_what_comes_first(run: Any, tea: Path) -> None:
    (tea / "more.toml").write_text(
        (tea / "study.toml").read_text()
        + '[[rounds]]\nid = "later"\ntitle = "L"\ninstrument = "title"\nraters = ["rule"]\n'
    )
    assert run("screen", "design", "more.toml").exit_code == 0
    result = run("screen", "run", "later", "--rater", "rule")
    assert result.stderr == "proofshelf: round later has no chunks yet: proofshelf screen manifest later\n"


def test_without_the_llm_library_other_commands_still_work(run: Any, tea: Path) -> None:
    # As where the extra isn't installed: an import of `llm` fails, in a process of its own.
    code = (
        "import sys; sys.modules['llm'] = None; from catalog.commands import main; "
        "sys.argv = ['proofshelf', *sys.argv[1:]]; main()"
    )

    def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tea, capture_output=True, text=True, check=False
        )

    asked = shell("screen", "run", "all", "--rater", "rule")
    assert asked.returncode == 1
    assert asked.stderr == (
        "proofshelf: asking models needs the `llm` library, which isn't installed: "
        "pip install 'proofshelf[models]'\n"
    )
    assert shell("screen", "status", "tea").returncode == 0
    assert shell("screen", "run", "--help").returncode == 0


def test_ctrl_c_while_a_model_is_silent_keeps_what_was_answered(run: Any, tea: Path) -> None:
    # The second chunk is never answered. A plugin of `llm` in a process of its own, which gets the signal.
    code = """
import sys, threading
import llm
from llm.plugins import pm
from catalog.asking.keywords import Keywords

class Slow(Keywords):
    def execute(self, *arguments, **more):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 2:
            print("silent", flush=True, file=sys.stderr)
            threading.Event().wait(60)
        yield from super().execute(*arguments, **more)

class Plugin:
    @llm.hookimpl(trylast=True)
    def register_models(self, register):
        register(Slow())

llm.get_models()
pm.unregister(name="proofshelf-keywords")
pm.register(Plugin(), name="slow")
sys.argv = ["proofshelf", *sys.argv[1:]]
from catalog.commands import main
main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, "screen", "run", "all", "--rater", "rule"],
        cwd=tea, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == "silent\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == "proofshelf: stopped; what was finished before is kept, and nothing is half-written\n"
    facts = json.loads(run_line(run, "--json").stdout)
    assert (facts["already"], facts["accepted"], facts["votes"]) == (1, 2, 6)
