import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifacts.analyses import AnalysisResult, ProcessLimits
from artifacts.query_worker import _ColumnKind
from artifacts.runner import Runner
from schema.artifact import Analysis

LIMITS = ProcessLimits(query_memory_bytes=512 << 20, query_rows=1000, query_result_bytes=1 << 20, longest_s=1)
Ask = Callable[..., AnalysisResult]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Run one query over files given by name and content."""

    def run(sql: str, files: dict[str, str | bytes] | None = None, **options: Any) -> AnalysisResult:
        inputs = {}
        for name, content in (files or {}).items():
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
            inputs[options.get("names", {}).get(name, name.split(".")[0])] = name
        analysis = Analysis(
            id="q", kind="query", sql=sql, inputs=inputs, parameters=options.get("parameters", {})
        )
        with Runner(options.get("limits", LIMITS)) as runner:
            return runner.run(analysis, lambda path: tmp_path / path)

    return run


def rows(result: AnalysisResult) -> Any:
    assert result.failure is None, result.detail
    return result.outputs["rows"]


def failure(result: AnalysisResult) -> tuple[str, str]:
    assert result.failure is not None
    assert result.detail is not None
    assert "\n" not in result.detail
    return result.failure.value, result.detail.removeprefix("analysis q: ")


# --- typing ------------------------------------------------------------------------------------

COLUMNS: list[tuple[list[str], str, list[Any]]] = [
    (["1", "", "-3"], "INTEGER", [1, None, -3]),
    (["0", "9223372036854775807", "-9223372036854775808"], "INTEGER", [0, 2**63 - 1, -(2**63)]),
    (["1", "9223372036854775808"], "TEXT", ["1", "9223372036854775808"]),
    (["1", "2.5", "1e3"], "REAL", [1.0, 2.5, 1000.0]),
    (["9007199254740993", "0.5"], "TEXT", ["9007199254740993", "0.5"]),
    (["9007199254740992", "0.5"], "REAL", [9007199254740992.0, 0.5]),
    (["01234", "5"], "TEXT", ["01234", "5"]),
    (["00e1", "5"], "TEXT", ["00e1", "5"]),
    (["+1"], "TEXT", ["+1"]),
    ([".5"], "TEXT", [".5"]),
    (["5."], "TEXT", ["5."]),
    (["1e999"], "TEXT", ["1e999"]),
    (["NaN", "1"], "TEXT", ["NaN", "1"]),
    (["inf"], "TEXT", ["inf"]),
    (["1 "], "TEXT", ["1 "]),
    (["1_000"], "TEXT", ["1_000"]),
    (["1,5"], "TEXT", ["1,5"]),
    (["\u0661"], "TEXT", ["\u0661"]),
    (["0x10"], "TEXT", ["0x10"]),
    (["", ""], "TEXT", [None, None]),
    (["-0"], "REAL", [-0.0]),
    (["true"], "TEXT", ["true"]),
]


@pytest.mark.parametrize(("cells", "kind", "expected"), COLUMNS, ids=[repr(c[0]) for c in COLUMNS])
def test_a_column_has_the_narrowest_type_that_keeps_every_digit(
    ask: Ask, cells: list[str], kind: str, expected: list[Any]
) -> None:
    """`01234` is a code and `00e1` a name: turning either into a number would lose it."""
    text = "x,keep\n" + "".join('"' + c + '",k\n' for c in cells)
    result = ask("SELECT x FROM t", {"t.csv": text})
    assert expected == [row[0] for row in rows(result)]
    names = {int: "integer", float: "real", str: "text", type(None): "null"}
    assert {names[type(v)] for v in expected} - {"null"} <= {kind.lower()}


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_integers_keep_all_their_digits(ask: Ask, values: list[int]) -> None:
    text = "x\n" + "".join(f"{v}\n" for v in values)
    assert [[v] for v in values] == rows(ask("SELECT x FROM t", {"t.csv": text}))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_decimals_come_back_to_the_last_bit(ask: Ask, values: list[float]) -> None:
    text = "x\n" + "".join(f"{v!r}\n" for v in values)
    assert [[v] for v in values] == rows(ask("SELECT x FROM t", {"t.csv": text}))


CELLS = st.sampled_from(
    [
        "",
        "0",
        "-0",
        "1",
        "-17",
        "01",
        "1.5",
        "-2e3",
        "1e99",
        "1e999",
        "123456789012345",
        "9007199254740993",
        "x",
        "9223372036854775807",
        "9223372036854775808",
        "1\n2",
        "\n",
        "١",
        "1 ",
        "+1",
    ]
)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_looking_at_many_cells_at_once_says_the_same_as_one_by_one(batches: list[list[str]]) -> None:
    """The quick look is a shortcut only: every column gets the type that the slow rule gives."""
    quick, slow = _ColumnKind(), _ColumnKind()
    for batch in batches:
        if not quick.is_text:
            quick.see_column(tuple(batch))
        for cell in filter(None, batch):
            if not slow.is_text:
                slow.see(cell)
    assert quick.name == slow.name


PRINTABLE = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=8
)


@given(st.lists(st.lists(PRINTABLE.map("t".__add__), min_size=2, max_size=2), max_size=8))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(ask: Ask, values: list[list[str]]) -> None:
    import csv
    import io

    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([["a", "b"], *values])
    assert values == rows(ask("SELECT a, b FROM t", {"t.csv": stream.getvalue()}))


def test_tsv_bom_crlf_and_blank_lines(ask: Ask) -> None:
    files: dict[str, str | bytes] = {"t.tsv": b"\xef\xbb\xbfa\tb\r\n1\tx,y\r\n\r\n2\tz\r\n"}
    assert rows(ask("SELECT a, b FROM t", files)) == [[1, "x,y"], [2, "z"]]


JSON_TABLES = [
    ('[{"a": 1, "b": [1, {"c": null}]}, {"c": true}]', [[1, '[1,{"c":null}]', None], [None, None, 1]]),
    ('{"note": "x", "jobs": [{"a": 1}, {"a": 2}]}', [[1], [2]]),
    ('{"columns": ["a", "b"], "rows": [[1, "x"]]}', [[1, "x"]]),
    ('{"a": 1.5, "b": {"c": 2}}', [[1.5, '{"c":2}']]),
    ('{"x": [{"a": 1}], "y": [{"a": 2}]}', [['[{"a":1}]', '[{"a":2}]']]),
    ('[{"a": 9223372036854775808}]', [["9223372036854775808"]]),
]


@pytest.mark.parametrize(("text", "expected"), JSON_TABLES)
def test_json_tables(ask: Ask, text: str, expected: list[list[Any]]) -> None:
    assert expected == rows(ask("SELECT * FROM t", {"t.json": text}))


def test_nested_json_is_within_reach(ask: Ask) -> None:
    sql = "SELECT sum(e.value ->> 'n') FROM t, json_each(t.items) AS e"
    assert rows(ask(sql, {"t.json": '[{"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 3}]}]'})) == [[6]]


def test_joins_windows_and_recursion_are_what_sql_is_for(ask: Ask) -> None:
    sql = """WITH RECURSIVE steps(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM steps WHERE n < 4)
             SELECT n, sum(a.v) OVER (ORDER BY n), round(sqrt(b.w), 3)
             FROM steps JOIN a ON a.k = n LEFT JOIN b ON b.k = a.k ORDER BY n"""
    files: dict[str, str | bytes] = {"a.csv": "k,v\n1,10\n2,20\n", "b.json": '[{"k": 1, "w": 2}]'}
    assert rows(ask(sql, files)) == [[1, 10, 1.414], [2, 30, None]]


def test_parameters_are_bound_by_name(ask: Ask) -> None:
    result = ask(
        "SELECT count(*) FROM t WHERE a >= :least", {"t.csv": "a\n1\n2\n3\n"}, parameters={"least": 2}
    )
    assert rows(result) == [[2]]


def test_dates_that_are_written_out(ask: Ask) -> None:
    """A leap day: 31 January and a month are 2 March in 2024 by SQLite's rule."""
    sql = "SELECT date('2024-01-31', '+1 month'), unixepoch('1970-01-02'), strftime('%Y', '2024-05-01')"
    assert rows(ask(sql)) == [["2024-03-02", 86400, "2024"]]


def test_what_was_really_read_is_known(ask: Ask) -> None:
    """A query that names an input without reading it recomputes nothing from it."""
    files: dict[str, str | bytes] = {"a.csv": "x\n1\n", "b.csv": "x\n1\n"}
    assert frozenset({"a"}) == ask("SELECT count(*) FROM a", files).read
    assert frozenset() == ask("SELECT 7.75", files).read
    assert frozenset({"a", "b"}) == ask("SELECT a.x FROM a JOIN b ON a.x = b.x", files).read


# --- files that are no tables ------------------------------------------------------------------

BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("t.csv", "a,b\n1,2\n3\n", "t.csv line 3: has 1 cell; the header has 2"),
    ("t.csv", "a,b\n1,2,3\n", "t.csv line 2: has 3 cells; the header has 2"),
    ("t.csv", "a,a\n1,2\n", "t.csv line 1: two columns are called 'a'"),
    (
        "t.csv",
        "a,A\n1,2\n",
        "t.csv line 1: columns 'a' and 'A' differ in case only, which SQL doesn't distinguish",
    ),
    ("t.csv", "a,\n1,2\n", "t.csv line 1: column 2 has no name"),
    ("t.csv", "", "t.csv: is empty; expected a header row"),
    ("t.csv", b"a,b\n1,2\nx,\xe9\n", "t.csv line 3: byte 0xe9 isn't UTF-8; expected a UTF-8 file"),
    ("t.csv", "a".encode("utf-16"), "t.csv line 1: byte 0xff isn't UTF-8; expected a UTF-8 file"),
    ("t.csv", 'a,b\n1,"2\n', "t.csv line 2: can't be read as CSV: unexpected end of data"),
    ("t.csv", 'a,b\n1,"2"x\n', "t.csv line 2: can't be read as CSV: ',' expected after '\"'"),
    ("t.json", "[1, 2]", "t.json: is no table; expected a list of objects, or an object that holds one"),
    ("t.json", "[]", "t.json: is no table: its list holds no object with a field"),
    ("t.json", '[{"a": NaN}]', "t.json: holds NaN, which is no JSON"),
    ("t.json", '[{"a": 1e999}]', "t.json: 1e999 is beyond the largest number"),
    ("t.json", '[{"a": 1, "a": 2}]', "t.json: an object has the key 'a' twice"),
    ("t.json", '[{"a": 1},\n]', "t.json line 2 column 1: not JSON: expecting value"),
    ("t.json", b'[{"a":\n "\xff"}]', "t.json line 2: byte 0xff isn't UTF-8"),
    ("t.json", "[" * 100_000, "an input is nested too deeply to be read"),
    ("t.json", '{"columns": ["a"], "rows": [[1, 2]]}', "t.json: row 0 hasn't 1 cell as 'columns' says"),
]


@pytest.mark.parametrize(
    ("name", "content", "expected"), BAD_FILES, ids=[str(i) for i in range(len(BAD_FILES))]
)
def test_bad_files_get_one_sentence_with_file_and_line(
    ask: Ask, name: str, content: str | bytes, expected: str
) -> None:
    assert ("crashed", expected) == failure(ask("SELECT * FROM t", {name: content}))


def test_a_file_that_no_query_reads(ask: Ask) -> None:
    expected = "t.parquet: is not a table; a query reads .csv, .tsv, .tab and .json files"
    assert ("refused", expected) == failure(ask("SELECT 1", {"t.parquet": "x"}))


def test_table_names_that_sqlite_keeps_for_itself(ask: Ask) -> None:
    result = ask("SELECT 1", {"t.csv": "a\n"}, names={"t.csv": "sqlite_master"})
    assert failure(result) == (
        "crashed",
        "t.csv: can't be a table called 'sqlite_master'; choose another name",
    )


def test_names_are_quoted_and_not_run(ask: Ask) -> None:
    """A header is data: a name with a quote in it must not become SQL."""
    name = 'a"); DROP TABLE t; --'
    result = ask("SELECT * FROM t", {"t.csv": '"' + name.replace('"', '""') + '"\n1\n'})
    assert rows(result) == [[1]]
    assert [name] == result.outputs["columns"]


# --- attacks -----------------------------------------------------------------------------------

FOREVER = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) "
REFUSED = {
    "ATTACH '/etc/passwd' AS x": "attaches a database",
    "ATTACH ':memory:' AS x": "attaches a database",
    "DETACH main": "detaches a database",
    "VACUUM INTO '/tmp/proofshelf-stolen'": "attaches a database",
    "INSERT INTO t VALUES (1)": "writes",
    "UPDATE t SET a = 1": "writes",
    "DELETE FROM t": "writes",
    "DROP TABLE t": "writes",
    "CREATE TABLE u(x)": "writes",
    "CREATE TEMP TABLE u(x)": "writes",
    "CREATE VIRTUAL TABLE f USING fts5(x)": "writes",
    "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END": "changes the database",
    "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x": "writes",
    "INSERT INTO t VALUES (1) RETURNING a": "writes",
    "PRAGMA temp_store_directory = '/tmp'": "uses a PRAGMA",
    "PRAGMA query_only = OFF": "uses a PRAGMA",
    "PRAGMA hard_heap_limit = 0": "uses a PRAGMA",
    "SELECT * FROM pragma_database_list": "a query may only read the package's tables",
    "SELECT * FROM sqlite_master": "reads sqlite_master",
    "SELECT * FROM sqlite_temp_master": "reads sqlite_temp_master",
    "SELECT * FROM dbstat": "a query may only read the package's tables",
    "SELECT * FROM sqlite_stmt": "a query may only read the package's tables",
    "SELECT load_extension('/tmp/x.so')": "calls load_extension()",
    "SELECT readfile('/etc/passwd')": "calls readfile()",
    "SELECT writefile('/tmp/x', 'y')": "calls writefile()",
    "SELECT edit('x')": "calls edit()",
    "SELECT eval('SELECT 1')": "calls eval()",
    "SELECT fts3_tokenizer('x')": "calls fts3_tokenizer()",
    "SELECT random()": "calls random()",
    "SELECT hex(randomblob(8))": "calls randomblob()",
    "SELECT a FROM t ORDER BY random()": "calls random()",
    "SELECT zeroblob(1000000000)": "calls zeroblob()",
    "SELECT sqlite_version()": "calls sqlite_version()",
    "SELECT sqlite_compileoption_get(1)": "calls sqlite_compileoption_get()",
    "SELECT last_insert_rowid()": "calls last_insert_rowid()",
    "SELECT CURRENT_TIMESTAMP": "calls current_timestamp()",
    "SELECT current_date": "calls current_date()",
    "SELECT datetime('now')": "asks datetime() for the time of day",
    "SELECT date('NOW', '+1 day')": "asks date() for the time of day",
    "SELECT strftime('%s', 'now')": "asks strftime() for the time of day",
    "SELECT strftime('%s')": "asks strftime() for the time of day",
    "SELECT julianday()": "asks julianday() for the time of day",
    "SELECT datetime('2024-01-01', 'localtime')": "asks datetime() for the time of day",
    "SELECT date(lower('NO' || 'W'))": "asks date() for the time of day",
    "SELECT date(x'6e6f77')": "asks date() for the time of day",
    "SELECT datetime('now' || char(0) || 'x')": "asks datetime() for the time of day",
    "SELECT strftime('%s', CAST('now' AS BLOB) || x'00')": "asks strftime() for the time of day",
    "SELECT unixepoch('2024-01-01', x'757463')": "asks unixepoch() for the time of day",
    "EXPLAIN SELECT a FROM t": "explains a query and runs none",
    " ;/* a\nb */ -- c\n explain query plan SELECT a FROM t": "explains a query and runs none",
    "BEGIN": "begins or ends a transaction",
    "COMMIT": "begins or ends a transaction",
    "SAVEPOINT s": "begins or ends a transaction",
    "ANALYZE": "a query may only read the package's tables",
    "REINDEX": "is not a query that gives rows",
    "SELECT 1; SELECT 2": "holds more than one statement; expected one SELECT",
    "SELECT 1; ATTACH 'x' AS y": "holds more than one statement; expected one SELECT",
    "-- nothing": "is not a query that gives rows; expected one SELECT",
    "WITH t AS (SELECT 7.75 AS a) SELECT a FROM t": "calls a table of its own 't', as an input is called",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_attacks_are_refused_with_their_sentence(ask: Ask, tmp_path: Path, sql: str) -> None:
    before = sorted(os.listdir(tmp_path))
    outcome, detail = failure(ask(sql, {"t.csv": "a\n1\n"}))
    assert outcome == "refused"
    assert REFUSED[sql] in detail
    assert {"t.csv", *before} == set(os.listdir(tmp_path))
    assert not os.path.exists("/tmp/proofshelf-stolen")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        'SELECT * FROM "../manifest.json"',
        'SELECT * FROM "file:/etc/passwd?mode=ro"',
        "SELECT * FROM csv('/etc/passwd')",
        "SELECT * FROM fsdir('/etc')",
    ],
)
def test_another_file_is_no_table(ask: Ask, sql: str) -> None:
    outcome, detail = failure(ask(sql, {"t.csv": "a\n1\n"}))
    assert outcome == "crashed"
    assert "no such table" in detail
    assert "its tables are: t" in detail


ENDLESS = {
    "recursion": FOREVER + "SELECT count(*) FROM t",
    "cross join": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100000) "
    "SELECT count(*) FROM c a, c b, c d",
    "slow function": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) "
    "SELECT sum(length(replace(printf('%.*c', 1000000 + n % 2, 'a'), 'a', 'aaaaaaaaaa'))) FROM c",
    "slow pattern": "SELECT printf('%.*c', 9000000, 'a') LIKE '%' || printf('%.*c', 900, 'a') || 'b'",
}


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
def test_what_would_run_for_a_minute_is_stopped_by_the_clock(ask: Ask, sql: str) -> None:
    """The limit is 1 s here; the clock stops it wherever it is, inside one function as well."""
    assert failure(ask(sql)) == ("timed_out", "was stopped after its limit of 1 s")


HUNGRY = {
    "sort": FOREVER + "SELECT printf('%.*c', 1000000, n) FROM (SELECT n FROM t LIMIT 5000) ORDER BY 1",
    "concatenation": FOREVER + "SELECT json_group_array(v) FROM (SELECT printf('%.*c', 60000000, 'x') AS v "
    "FROM t LIMIT 50)",
}


@pytest.mark.parametrize("sql", HUNGRY.values(), ids=HUNGRY)
def test_what_would_take_gigabytes_ends(ask: Ask, sql: str) -> None:
    """Whichever limit is met first (memory, length or time), the query ends with a sentence."""
    limits = ProcessLimits(query_memory_bytes=200 << 20, longest_s=10)
    outcome, detail = failure(ask(sql, limits=limits))
    assert outcome in ("timed_out", "crashed")
    assert "memory" in detail or "too big" in detail or "bytes" in detail


def test_a_sort_beyond_memory_is_named_so(ask: Ask) -> None:
    limits = ProcessLimits(query_memory_bytes=200 << 20, longest_s=20)
    result = ask(HUNGRY["sort"], limits=limits)
    assert failure(result) == ("timed_out", "needed more than its limit of 200 MiB of memory")


def test_results_have_a_limit(ask: Ask) -> None:
    result = ask("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1001) SELECT n FROM c")
    assert failure(result) == ("crashed", "gives more than 1000 rows; narrow it down")
    result = ask("SELECT printf('%.*c', 2000000, 'x')")
    assert failure(result) == ("crashed", "gives more than 1048576 bytes; narrow it down")


NO_VALUES = {
    "SELECT 9e999": "gives inf in column '9e999', which is no finite number",
    "SELECT x'00' AS b": "gives a blob in column 'b'; use hex() to give text",
    "SELECT none": "SQLite says: no such column: none",
    "SELEC 1": 'SQLite says: near "SELEC": syntax error',
    "SELECT cast(x'ff' AS text)": None,
    "SELECT abs(-9223372036854775808)": "SQLite says: integer overflow",
    "SELECT json('{')": "SQLite says: malformed JSON",
    "SELECT '\0'": None,
}


@pytest.mark.parametrize("sql", NO_VALUES)
def test_queries_that_give_no_value(ask: Ask, sql: str) -> None:
    outcome, detail = failure(ask(sql))
    assert outcome == "crashed"
    assert NO_VALUES[sql] in (None, detail)


def test_an_expression_too_deep_ends(ask: Ask) -> None:
    assert failure(ask("SELECT " + "(" * 5000 + "1" + ")" * 5000))[0] == "crashed"
    assert failure(ask("SELECT " + "1+" * 5000 + "1"))[0] == "crashed"


def test_a_statement_that_is_endless_to_prepare_ends(ask: Ask) -> None:
    """Each level names the one before twice, so forty of them are a trillion selects before any row."""
    levels = ["l0 AS (SELECT 1 AS x)"]
    levels += [f"l{i} AS (SELECT a.x FROM l{i - 1} a, l{i - 1} b)" for i in range(1, 40)]
    assert failure(ask(f"WITH {', '.join(levels)} SELECT count(*) FROM l39"))[0] in ("timed_out", "crashed")


def test_subqueries_nested_beyond_any_use_end(ask: Ask) -> None:
    assert failure(ask("SELECT (" * 3000 + "SELECT 1" + ")" * 3000))[0] == "crashed"
    assert failure(ask("SELECT * FROM (" * 3000 + "SELECT 1" + ")" * 3000))[0] in ("crashed", "timed_out")


def test_comments_before_a_query_cost_nothing(ask: Ask) -> None:
    assert rows(ask("/**/" * 10_000 + "SELECT 1")) == [[1]]


def test_the_same_query_gives_the_same_bytes(ask: Ask) -> None:
    files: dict[str, str | bytes] = {"t.csv": "a,b\n" + "".join(f"{i % 7},{i / 3}\n" for i in range(500))}
    sql = "SELECT a, avg(b), group_concat(b) FROM t GROUP BY a"
    assert json.dumps(ask(sql, files).outputs) == json.dumps(ask(sql, files).outputs)


def test_the_worker_has_no_rights_left(tmp_path: Path) -> None:
    """Even code that escaped SQLite could open no file and start no child."""
    import subprocess
    import sys

    import artifacts.query_worker as worker

    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(worker.__file__)!r})\n"
        "import query_worker, os\n"
        "query_worker.give_up_rights(5, 1 << 30)\n"
        "for attempt in (lambda: open('/etc/hostname'), lambda: open('x', 'w'), lambda: os.pipe()):\n"
        "    try: attempt(); print('escaped')\n"
        "    except OSError as error: print(error.strerror)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert shown.stdout.splitlines() == ["Too many open files"] * 3
