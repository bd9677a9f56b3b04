"""A person's queue and an adjudicator's, by lines through a pipe and by keys on a terminal."""

import fcntl
import json
import os
import pty
import select
import sqlite3
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from catalog.commands.group import cli


def lines(text: str, *arguments: str) -> Result:
    """A command with these lines typed into it."""
    return CliRunner().invoke(cli, list(arguments), input=text)


def queue(text: str, *more: str, round_: str = "sampled") -> Result:
    return lines(text, "screen", "queue", round_, "--rater", "ada", *more)


def votes(folder: Path, rater: str = "ada") -> list[tuple[str, str, str | None, bool]]:
    """Work, decision, reason and whether it stands, of every vote in the order of casting."""
    with sqlite3.connect(folder / "proofshelf.db") as db:
        rows = db.execute(
            "SELECT w.slug, v.decision, v.reason, "
            "NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id) "
            "FROM votes v JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id "
            "WHERE t.slug = ? ORDER BY v.id",
            [rater],
        ).fetchall()
    return [(work, decision, reason, bool(stands)) for work, decision, reason, stands in rows]


def order(run: Any, round_: str) -> list[str]:
    """The works of a round in the order of its manifest."""
    chunks = json.loads(run("screen", "manifest", round_, "--json").stdout)["chunks"]
    return [work for chunk in chunks for work in chunk["works"]]


def test_keys_become_votes_in_the_order_of_the_manifest(run: Any, tea: Path) -> None:
    result = queue("i\n\ne\nno trial\nu\nhm\nc\n\ni\n\n")
    assert result.exit_code == 0
    works = order(run, "sampled")
    assert votes(tea) == [
        (works[0], "in_scope", None, True), (works[1], "out_of_scope", "no trial", True),
        (works[2], "unsure", "hm", True), (works[3], "insufficient_payload", None, True),
        (works[4], "in_scope", None, True),
    ]  # fmt: skip
    assert "5 votes, 0 corrections, 0 skipped; 5 of 5 works done." in result.stdout


def test_only_what_the_instrument_shows_is_shown(run: Any, tea: Path) -> None:
    # The round `sampled` shows titles: neither author nor year, which a slug holds, nor abstract.
    shown = queue("q\n").stdout.lower()
    work = order(run, "sampled")[0]
    name, year, _ = work.split("-")
    assert "of tea" in shown
    assert name not in shown
    assert year not in shown
    name = order(run, "all")[0].split("-")[0]  # this one shows abstracts too
    assert f"what {name} found" in queue("q\n", round_="all").stdout.lower()


def test_nothing_of_another_rater_is_shown(run: Any, tea: Path) -> None:
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    assert lines("i\nben's own words\nq\n", "screen", "queue", "all", "--rater", "ben").exit_code == 0
    shown = queue("e\n\nq\n", round_="all").stdout
    for word in ("Rule", "rule", "ben", "own words", "in scope", "machine"):
        assert word not in shown


def test_back_supersedes_and_keeps(run: Any, tea: Path) -> None:
    result = queue("e\ntoo fast\nb\ni\nit is one\nq\n")
    work = order(run, "sampled")[0]
    assert votes(tea) == [(work, "out_of_scope", "too fast", False), (work, "in_scope", "it is one", True)]
    assert "You said: out of scope; reason: too fast" in result.stdout
    assert "1 vote, 1 correction" in result.stdout
    # Left as it is, nothing is written.
    queue("b\nb\nq\n")
    assert len(votes(tea)) == 2


def test_skipped_works_come_again_at_the_end(run: Any, tea: Path) -> None:
    result = queue("s\n" + "e\n\n" * 5)
    works = order(run, "sampled")
    assert [work for work, *_ in votes(tea)] == [*works[1:], works[0]]
    assert "you skipped this one before" in result.stdout
    assert "Nothing is left: 5 of 5 works done." in result.stdout


def test_the_end_of_input_keeps_whole_votes_only(tea: Path) -> None:
    result = queue("i\n\ne\n")  # the second vote lacks its reason line
    assert result.exit_code == 0
    assert len(votes(tea)) == 1


def test_what_cannot_be_is_asked_again(tea: Path) -> None:
    result = queue("x\nb\ne\n" + "x" * 401 + "\nshort\nq\n")
    assert "'x' isn't one of i, e, u, c, s, b, q" in result.stdout
    assert "there is no vote of yours to go back to" in result.stdout
    assert "401 characters; at most 400 are allowed" in result.stdout
    assert [reason for _, _, reason, _ in votes(tea)] == ["short"]


def test_json_tells_what_was_done_and_questions_go_elsewhere(tea: Path) -> None:
    result = queue("e\n\ns\nq\n", "--json")
    done = json.loads(result.stdout)
    assert (done["votes"], done["skipped"], done["done"], done["total"]) == (1, 1, 1, 5)
    assert len(done["written"]) == 1
    assert "Decision [" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("queue sampled --rater ben", "'ben' is no rater of round 'sampled'; its raters: ada"),
        ("queue all --rater rule", "'rule' is a model: it is asked chunk by chunk (`proofshelf screen run`)"),
        ("queue nowhere --rater ada", "there is no round 'nowhere' here; there is all, sampled"),
        ("adjudicate all --rater ben", "'ben' is no adjudicator of round all, which has ada"),
    ],
)
def test_who_and_what_cannot_be(run: Any, tea: Path, arguments: str, sentence: str) -> None:
    result = run("screen", *arguments.split())
    assert (result.exit_code, result.stderr) == (1, f"proofshelf: {sentence}\n")


MANY = """\
id = "m"
title = "M"
[rubric]
id = "m"
version = "1"
title = "M"
reason = "required"
[[rubric.categories]]
id = "x"
label = "Ex"
[[rubric.categories]]
id = "y"
label = "Why"
[[rubric.categories]]
id = "z"
label = "Zed"
stands_alone = true
[[rubric.fields]]
id = "design"
label = "Design"
values = ["one", "two"]
required = "exactly_when"
when = "y"
[[rubric.fields]]
id = "tags"
label = "Tags"
values = ["p", "q"]
many = true
[[raters]]
id = "eve"
kind = "human"
name = "Eve"
[[rounds]]
id = "m1"
title = "M1"
instrument = "title+abstract"
raters = ["eve"]
"""


@pytest.fixture
def many(run: Any, tea: Path) -> Path:
    """The same works, in a study with several categories and fields."""
    (tea / "many.toml").write_text(MANY)
    for line in ("screen design many.toml", "screen manifest m1"):
        assert run(*line.split()).exit_code == 0
    return tea


def test_categories_by_number_fields_confidence_and_reason(run: Any, many: Path) -> None:
    # Ex and Why; the design is asked for because of Why; no tag; medium; a reason is required.
    typed = "i\n1, 2\n2\n\nm\n\nfor both\nq\n"
    result = lines(typed, "screen", "queue", "m1", "--rater", "eve")
    assert result.exit_code == 0
    with sqlite3.connect(many / "proofshelf.db") as db:
        row = db.execute("SELECT categories, fields, confidence, reason FROM votes").fetchone()
    assert (json.loads(row[0]), json.loads(row[1])) == (["x", "y"], {"design": ["two"]})
    assert row[2:] == ("medium", "for both")
    assert "a reason is required" in result.stdout


def test_a_combination_that_the_rubric_forbids_is_asked_again(run: Any, many: Path) -> None:
    typed = "i\n1 3\n\nh\nno\n9\n3\n1 2\nl\nyes\nq\n"
    result = lines(typed, "screen", "queue", "m1", "--rater", "eve")
    assert "z stands alone, but 2 categories are named" in result.stdout
    assert "expected numbers from 1 to 3" in result.stdout
    with sqlite3.connect(many / "proofshelf.db") as db:
        row = db.execute("SELECT categories, fields, confidence FROM votes").fetchone()
    assert (json.loads(row[0]), json.loads(row[1]), row[2]) == (["z"], {"tags": ["p", "q"]}, "low")


def test_a_decision_can_be_taken_back_before_it_is_written(run: Any, many: Path) -> None:
    lines("i\nb\ne\n\nh\nno\nq\n", "screen", "queue", "m1", "--rater", "eve")
    assert [row[1] for row in votes(many, "eve")] == ["out_of_scope"]


# On a terminal ---------------------------------------------------------------------------------------


class Terminal:
    """A program at a terminal of its own: what it shows, and keys for it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "PROOFSHELF_WHO": "tester", "COLUMNS": "80"}
        command = [sys.executable, "-m", "catalog.commands", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> None:
        """Wait until the program shows the text, and forget what came up to it."""
        limit = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < limit, self.seen
            if select.select([self.master], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.master, 4096).decode("utf-8", "replace")
                except OSError:
                    assert text in self.seen, self.seen
        self.seen = self.seen.split(text, 1)[1]

    def press(self, keys: str) -> None:
        """Press keys as soon as the program reads single ones: what comes earlier is thrown away."""
        self._type(keys, single=True)

    def line(self, text: str) -> None:
        """Type a line and Enter, once the program reads lines."""
        self._type(text + "\r", single=False)

    def _type(self, keys: str, single: bool) -> None:
        limit = time.monotonic() + 60
        while bool(termios.tcgetattr(self.master)[3] & termios.ICANON) is single:
            assert time.monotonic() < limit, self.seen
            time.sleep(0.005)
        os.write(self.master, keys.encode())

    def leave(self) -> int:
        code = self.process.wait(60)
        os.close(self.master)
        return code


def test_single_keys_on_a_terminal(run: Any, tea: Path) -> None:
    at = Terminal(tea, "screen", "queue", "sampled", "--rater", "ada")
    at.until("quit]")
    at.press("\x1b[A")  # an arrow is no answer, and isn't taken for three
    at.until("isn't one of")
    at.until("quit]")
    at.press("e")  # no Enter
    at.until("Reason")
    at.line("no trial")
    at.until("1 of 5 done")
    at.until("quit]")
    at.press("iquickly\r")  # all at once, ahead of the question
    at.until("2 of 5 done")
    at.until("quit]")
    at.press("q")
    at.until("2 votes")
    assert at.leave() == 0
    works = order(run, "sampled")
    assert votes(tea) == [
        (works[0], "out_of_scope", "no trial", True),
        (works[1], "in_scope", "quickly", True),
    ]


def test_ctrl_c_keeps_the_votes_before(run: Any, tea: Path) -> None:
    at = Terminal(tea, "screen", "queue", "sampled", "--rater", "ada")
    at.until("quit]")
    at.press("e")
    at.until("Reason")
    at.line("")
    at.until("1 of 5 done")
    at.until("quit]")
    at.press("i")
    at.until("Reason")
    at.line("half a rea\x03")
    at.until("stopped")
    assert at.leave() == 130
    assert len(votes(tea)) == 1


# Adjudication ------------------------------------------------------------------------------------------


@pytest.fixture
def contested(run: Any, tea: Path) -> Path:
    """Ada and ben differ on the second work of the manifest, the rule votes on all."""
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    assert queue("e\nnot for me\n" + "e\n\n" * 9, round_="all").exit_code == 0
    answered = lines("e\n\ni\nfor me it is\n" + "e\n\n" * 8, "screen", "queue", "all", "--rater", "ben")
    assert answered.exit_code == 0
    return tea


def waiting(run: Any) -> int:
    page = json.loads(run("screen", "status", "tea", "--json").stdout)
    row = next(view for view in page["rounds"] if view["round"]["id"] == "all")
    return int(row["contested"]) - int(row["adjudicated"])


def adjudications(folder: Path) -> list[tuple[str, str, str | None]]:
    with sqlite3.connect(folder / "proofshelf.db") as db:
        rows = db.execute(
            "SELECT w.slug, a.decision, a.reason FROM adjudications a JOIN works w ON w.id = a.work_id "
            "ORDER BY a.id"
        )
        return [tuple(row) for row in rows]


def test_contested_works_are_resolved_one_by_one(run: Any, contested: Path) -> None:
    before = waiting(run)
    assert before >= 1
    result = lines("i\nit is\nn\ncan't say\nq\n", "screen", "adjudicate", "all", "--rater", "ada")
    assert result.exit_code == 0, result.output
    assert [row[1:] for row in adjudications(contested)] == [
        ("in_scope", "it is"),
        ("unresolved", "can't say"),
    ]
    assert waiting(run) == before - 2
    # Whose vote it is isn't said, what it is always is; the reason is.
    shown = result.stdout
    assert "vote 1 [person]" in shown
    assert "[machine]" in shown
    assert "ada [" not in shown
    assert "ben [" not in shown
    assert "ada [person]" in lines("q\n", "screen", "adjudicate", "all", "--rater", "ada", "--names").stdout


def test_one_work_without_questions(run: Any, contested: Path) -> None:
    lines("q\n", "screen", "adjudicate", "all", "--rater", "ada")
    work = order(run, "all")[1]
    line = f"screen adjudicate all --rater ada --work {work} --decision in_scope --categories trial --json"
    done = json.loads(run(*line.split()).stdout)
    assert len(done["written"]) == 1
    assert adjudications(contested) == [(work, "in_scope", None)]


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        ("--work x", 2, "--work and --decision go together"),
        ("--reason x", 2, "--categories and --reason go with --work"),
    ],
)
def test_options_that_need_each_other(run: Any, tea: Path, more: str, code: int, sentence: str) -> None:
    result = run("screen", "adjudicate", "all", "--rater", "ada", *more.split())
    assert result.exit_code == code
    assert sentence in result.stderr
