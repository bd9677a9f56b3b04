"""Bad input: one sentence on standard error, the right exit code, nothing lost or half-written."""

import csv
import functools
import hashlib
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog import store
from catalog.commands import library


def sentence(result: Any, code: int = 1) -> str:
    """The one line of an error, after checking that it is one, and no traceback."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("proofshelf: ")
    assert "unexpected" not in lines[0]
    return lines[0].removeprefix("proofshelf: ")


def contents(folder: Path) -> dict[str, str]:
    """Every row of every table of the catalog, and every file in the store, to compare before and after."""
    found = {}
    with sqlite3.connect(folder / "proofshelf.db") as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            found[table] = repr(db.execute(f'SELECT * FROM "{table}"').fetchall())
    for file in (folder / "proofshelf.db.objects").rglob("*"):
        if file.is_file():
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def rewrite(name: str, data: bytes | None) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if data is not None:
            (folder / name).write_bytes(data)

    return change


def outside(folder: Path) -> None:
    target = folder.parent / "outside.csv"
    target.write_bytes((folder / "runs.csv").read_bytes())
    (folder / "runs.csv").unlink()
    (folder / "runs.csv").symlink_to(target)


def edit(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        content = json.loads((folder / "manifest.json").read_text())
        change(content)
        (folder / "manifest.json").write_text(json.dumps(content))

    return apply


def screening(value: str) -> Callable[[Path], None]:
    """A screening file with one score, written as `value` into the JSON text."""

    def apply(folder: Path) -> None:
        release = {
            "id": "r", "title": "R", "status": "s", "maturity": "unknown", "decimals": 3, "source": "t",
            "heads": [{"name": "h", "categories": ["c"]}],
        }  # fmt: skip
        score = {"work": "heat", "release": "r", "head": "h", "category": "c", "value": "VALUE"}
        text = json.dumps({"releases": [release], "scores": [score]}).replace('"VALUE"', value)
        data = text.encode()
        (folder / "screening.json").write_bytes(data)
        file = {"path": "screening.json", "role": "input", "bytes": len(data)}
        file["sha256"] = hashlib.sha256(data).hexdigest()
        edit(lambda m: (m["files"].append(file), m.update(screening="screening.json")))(folder)

    return apply


def path(value: str) -> Callable[[Path], None]:
    return edit(lambda m: m["files"][0].update(path=value))


# What is wrong, and the words that the sentence must have: the file or field, and what is the matter.
REFUSED: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "no manifest": (rewrite("manifest.json", None), ["manifest.json"]),
    "malformed manifest": (rewrite("manifest.json", b'{"id": '), ["manifest.json"]),
    "manifest isn't UTF-8": (rewrite("manifest.json", b'{"id": "\xff"}'), ["manifest.json"]),
    "manifest is a list": (rewrite("manifest.json", b"[]"), ["manifest.json"]),
    "unknown field": (edit(lambda m: m.update(colour="red")), ["colour"]),
    "missing field": (edit(lambda m: m.pop("licence")), ["licence"]),
    "wrong hash": (edit(lambda m: m["files"][0].update(sha256="0" * 64)), ["runs.csv", "SHA-256"]),
    "wrong size": (edit(lambda m: m["files"][0].update(bytes=70)), ["runs.csv", "bytes", "70"]),
    "file missing": (rewrite("runs.csv", None), ["runs.csv"]),
    "extra file": (rewrite("extra.txt", b"x"), ["extra.txt"]),
    "path outside": (path("../runs.csv"), ["../runs.csv"]),
    "absolute path": (path("/etc/passwd"), ["/etc/passwd"]),
    "drive letter": (path("C:/x.csv"), ["C:/x.csv"]),
    "symbolic link out": (outside, ["runs.csv", "symbolic link"]),
    "claim twice": (edit(lambda m: m["claims"].append(m["claims"][0])), ["mean-celsius", "twice"]),
    "file twice": (edit(lambda m: m["files"].append(m["files"][0])), ["runs.csv", "twice"]),
    "analysis twice": (edit(lambda m: m["analyses"].append(m["analyses"][0])), ["mean", "twice"]),
    "claim points to no analysis": (
        edit(lambda m: m["claims"][0]["evidence"][0].update(analysis="nowhere")),
        ["mean-celsius", "nowhere"],
    ),
    "pointer isn't one": (
        edit(lambda m: m["claims"][0]["evidence"][0].update(pointer="rows.0")),
        ["pointer"],
    ),
    "value isn't a number": (edit(lambda m: m["claims"][0].update(value="NaN")), ["NaN"]),
    "package named as its work": (edit(lambda m: m["work"].update(id="heat-numbers")), ["heat-numbers"]),
    "NaN score": (screening("NaN"), ["screening.json"]),
    "infinite score": (screening('"Infinity"'), ["screening.json"]),
    "huge score": (screening('"1e9999"'), ["heat"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_broken_package_is_refused_whole(run: Any, make: Any, tmp_path: Path, case: str) -> None:
    breaks, words = REFUSED[case]
    run("init")
    folder = make()
    breaks(folder)
    before = contents(tmp_path)
    text = sentence(run("add", "heat"))
    for word in words:
        assert word in text
    # Rows are as before; a stored file may stay without a row (the next `add` uses it), never half a one.
    after = contents(tmp_path)
    assert {k: after[k] for k in before} == before
    for name in set(after) - set(before):
        assert after[name] == name
    # And a mended package goes in.
    for file in folder.iterdir():
        file.unlink()
    make()
    assert run("add", "heat").exit_code == 0


@pytest.mark.parametrize("case", ["no manifest", "malformed manifest", "unknown field", "symbolic link out"])
def test_verify_of_such_a_folder_is_refused_too(run: Any, make: Any, tmp_path: Path, case: str) -> None:
    breaks, _ = REFUSED[case]
    folder = make()
    breaks(folder)
    sentence(run("verify", "./heat"))


@pytest.mark.parametrize("name", ["../evil.csv", "/tmp/evil.csv", "a/../../evil.csv"])
def test_archive_that_leads_outside(run: Any, make: Any, tmp_path: Path, name: str) -> None:
    run("init")
    folder = make()
    with zipfile.ZipFile(tmp_path / "heat.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
        archive.writestr(name, "x")
    assert "evil" in sentence(run("add", "heat.zip"))
    assert not list(tmp_path.parent.glob("evil.csv"))


# What the package is, the exit code of its verification, and the words of the explanation.
def sql(text: str, **more: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda m: m["analyses"][0].update(sql=text, **more)


COMES_OUT: dict[str, tuple[Callable[[dict[str, Any]], Any], int, list[str]]] = {
    "pointer leads nowhere": (
        lambda m: m["claims"][0]["evidence"][0].update(pointer="/rows/9/0"), 3, ["not produced", "/rows"],
    ),
    "no recomputable claim": (lambda m: [c.pop("evidence") for c in m["claims"]], 4, ["saved only"]),
    "query reads another file": (
        sql("SELECT * FROM readfile('/etc/passwd')"), 4, ["mean-celsius"],
    ),
    "query attaches a file": (sql("ATTACH '/tmp/x.db' AS x"), 4, ["refused"]),
    "query writes": (sql("DELETE FROM runs"), 4, ["refused"]),
    "query runs too long": (
        sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            time_limit_s=0.5), 4, ["timed out"],
    ),
    "package's own code": (
        lambda m: m["analyses"].__setitem__(
            0, {"id": "mean", "kind": "command", "argv": ["touch", "ran"], "inputs": {"runs": "runs.csv"}}
        ),
        4, ["refused", "never runs"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMES_OUT)
def test_what_cannot_be_confirmed_is_said(run: Any, make: Any, tmp_path: Path, case: str) -> None:
    change, code, words = COMES_OUT[case]
    run("init")
    make(change)
    assert run("add", "heat").exit_code == 0
    result = run("verify", "heat-numbers")
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.stderr == ""
    for word in words:
        assert word in result.stdout
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("case", ["empty trace", "duplicate pair"])
def test_trace_that_makes_no_sense(run: Any, make: Any, tmp_path: Path, case: str) -> None:
    # A trace without records, and one in which job 0 stands twice at step 1 of one policy.
    header = ["step", "policy", "job", "score"]
    rows = [] if case == "empty trace" else [["1", "aware", "0", "1.0"]] * 2 + [["1", "agnostic", "0", "1.0"]]
    folder = make()
    with (folder / "runs.csv").open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    edit(
        lambda m: (
            m.update(
                analyses=[
                    {
                        "id": "trace", "kind": "builtin", "builtin": "gavel-trace",
                        "inputs": {"trace": "runs.csv"},
                        "parameters": {"START_STEP": 1, "END_STEP": 1, "JOB_ID": 0, "STEPS": 1},
                    }
                ],
                claims=[
                    {"id": "c", "text": "t", "value": "1",
                     "evidence": [{"analysis": "trace", "pointer": "/counts"}]}
                ],
            )
        )
    )(folder)  # fmt: skip
    assert run("seal", "heat").exit_code == 0
    result = run("verify", "heat")
    assert result.exit_code == 4, result.output
    assert "Traceback" not in result.output
    assert "trace" in next(line for line in result.stdout.splitlines() if line.startswith("    "))


# Databases -----------------------------------------------------------------------------------------


READERS = [
    "list",
    "show heat",
    "search heat",
    "audit",
    "verify heat-numbers",
    "verify --all",
    "export works --as csv --to w.csv",
    "rerun heat",
    "backup copy",
    "browse --no-open",
]


@pytest.mark.parametrize("line", [*READERS, "add heat", "import lib.bib"])
def test_no_catalog_yet(run: Any, make: Any, tmp_path: Path, line: str) -> None:
    (tmp_path / "lib.bib").write_text("@book{a, title={T}}")
    make()
    assert "`proofshelf init`" in sentence(run(*line.split()))
    assert not (tmp_path / "proofshelf.db").exists()


@pytest.mark.parametrize(
    ("data", "word"),
    [(b"", "empty"), (b"not a database, but long enough", "SQLite"), (b"SQLite format 3\0", "")],
)
@pytest.mark.parametrize("line", [*READERS, "add heat", "init"])
def test_file_that_is_no_catalog_is_left_alone(
    run: Any, make: Any, tmp_path: Path, data: bytes, word: str, line: str
) -> None:
    make()
    (tmp_path / "proofshelf.db").write_bytes(data)
    text = sentence(run(*line.split()))
    assert "proofshelf.db" in text
    assert word in text
    assert (tmp_path / "proofshelf.db").read_bytes() == data


def test_another_program_s_database(run: Any, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "proofshelf.db") as db:
        db.execute("CREATE TABLE theirs (a)")
    assert "no proofshelf catalog" in sentence(run("list"))


def test_locked_by_another_writer(
    run: Any, make: Any, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = functools.partial(store.open_catalog, busy_seconds=0.2)
    monkeypatch.setattr(library, "open_catalog", impatient)
    make(lambda m: m.update(title="Changed"))
    (tmp_path / "lib.bib").write_text("@book{a, title={T}}")
    before = contents(tmp_path)
    writer = sqlite3.connect(shelf, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    for line in ("add heat", "verify heat-numbers", "import lib.bib"):
        assert "locked" in sentence(run(*line.split()))
    assert run("list").exit_code == 0  # a reader isn't stopped
    writer.execute("ROLLBACK")
    writer.close()
    assert contents(tmp_path) == before
    assert run("add", "heat").exit_code == 0


# Names, options, files -------------------------------------------------------------------------------


def test_unknown_id_names_close_ones(run: Any, shelf: Path) -> None:
    for line in (
        "show heat-number",
        "verify heat-number",
        "rerun heat-number",
        "export heat-number --as csv --to x",
    ):
        assert "did you mean heat-numbers" in sentence(run(*line.split()))


WRONG_USAGE = """
    show; show heat 3; show verification zero; verify; verify heat --all; verify heat --level deep
    list everything; list works --import 1; export works --as xml --to x; export works --to x
    rerun heat --param START; rerun heat --param A=1 --param A=2; add; import; search; seal
    audit --nonsense; --nonsense; browse --port 70000
"""


@pytest.mark.parametrize("line", re.findall(r"[^;\n]*[^;\s]", WRONG_USAGE))
def test_wrong_usage_is_exit_2_with_one_sentence(run: Any, shelf: Path, line: str) -> None:
    text = sentence(run(*line.split()), code=2)
    assert "--help" in text


def test_parameters_that_do_not_fit(run: Any, shelf: Path) -> None:
    assert "mean" in sentence(run("rerun", "heat", "--analysis", "mean", "--param", "A=1"))
    assert "has no analysis" in sentence(run("rerun", "heat", "--analysis", "median"))
    assert "gives no table" in sentence(run("rerun", "heat", "--analysis", "mean", "--table", "other"))


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("none.bib", None, "no such file"),
        ("empty.bib", b"", "empty"),
        ("image.bib", b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
        ("text.bib", b"just some text\n", "no reader"),
    ],
)
def test_files_that_cannot_be_imported(
    run: Any, shelf: Path, tmp_path: Path, name: str, data: bytes | None, word: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    before = contents(tmp_path)
    assert word in sentence(run("import", name))
    assert contents(tmp_path) == before


def test_unexpected_error_is_one_sentence_and_debug_shows_it(
    run: Any, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr("catalog.queries.overview", broken)
    result = run("list")
    assert result.exit_code == 1
    assert result.stderr.startswith("proofshelf: unexpected ZeroDivisionError: no such thing; this is a bug")
    assert len(result.stderr.splitlines()) == 1
    monkeypatch.setenv("PROOFSHELF_DEBUG", "1")
    assert "Traceback" in run("list").stderr


def test_control_characters_in_an_error(run: Any, shelf: Path) -> None:
    # An id with an escape code must not reach the terminal as one.
    assert "\x1b" not in sentence(run("show", "\x1b[2Jx"))


def test_no_arguments_shows_the_help_as_it_is(run: Any) -> None:
    """A newcomer types the bare name: the page of --help, on lines of its own, and usage's exit code."""
    result = run()
    assert result.exit_code == 2
    assert result.stderr.splitlines()[0].startswith("Usage: ")
    assert "  verify " in result.stderr


@pytest.mark.parametrize(
    "line", ["list works --limit", "list works --offset", "list rejected --import", "search heat --limit"]
)
def test_a_number_beyond_all_counting(run: Any, shelf: Path, line: str) -> None:
    result = run(*line.split(), "99999999999999999999")
    assert (result.exit_code, result.stderr) == (0, "")
