"""The child process of one query: standard library only, started with `-I -S`, without any rights.

Reads one line of JSON, `{"sql", "tables": {name: {"file", "path"}}, "parameters", "seconds",
"memory_bytes", "rows", "result_bytes"}`, and answers one line, `{"result": {"columns", "rows",
"read"}}` or `{"failure", "detail"}`.

How files become tables:

* CSV (comma) and TSV (tab, for .tsv and .tab): UTF-8 with or without BOM, one header row. An empty
  cell is NULL and a blank line is skipped. A column is INTEGER when every other cell is a plain
  integer of 63 bits (no leading zero, no plus), REAL when every other cell is a plain finite decimal
  number and no integer among them is beyond 2^53, else TEXT: `01234`, `00e1` and `.5` stay text.
* JSON: a list of objects is a table of them; `{"columns": [...], "rows": [[...]]}` is one as well. In
  any other object, when exactly one member is a non-empty list of objects, that list is the table;
  else the object is a table of one row. Columns stand in order of first appearance, a missing key is
  NULL, true and false are 1 and 0, lists and objects are JSON text for SQLite's JSON functions.

What a query may do: read these tables, and call functions whose result depends on their arguments
alone. Dates must be written out: the time of day, the local time zone and chance are refused.
"""

import codecs
import csv
import io
import itertools
import json
import math
import os
import re
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NoReturn

INTEGER = re.compile(r"-?[1-9][0-9]*|0")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# Columns of cells that each end with a line feed, none of them able to overflow or to lose digits.
SHORT_INTEGERS = re.compile(r"(?:(?:-?[1-9][0-9]{0,14}|0)?\n)*")
SHORT_DECIMALS = re.compile(r"(?:(?:-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?)?\n)*")
LONGEST_CELL = 64 << 20
ROWS_AT_ONCE = 1000
MOST_COLUMNS = 2000
STEPS_BETWEEN_CHECKS = 5000
PURE_FUNCTIONS = frozenset(
    """
    abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce cos cosh count cume_dist
    date datetime degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr
    json json_array json_array_length json_extract json_group_array json_group_object json_insert
    json_object json_patch json_quote json_remove json_replace json_set json_type json_valid julianday
    lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value
    ntile nullif percent_rank pi pow power printf quote radians rank replace round row_number rtrim sign
    sin sinh sqrt strftime string_agg substr substring sum tan tanh time timediff total trim trunc typeof
    unhex unicode unixepoch unlikely upper -> ->>
    """.split()  # noqa: SIM905 - a word list is read more easily than a column of quotes
)
DATE_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff")
NOT_A_DATE = re.compile(r"\s*(?:now|subsec|subsecond|localtime|utc)\s*", re.IGNORECASE)
# A program for SQLite's machine would be the result, and no number of the tables.
EXPLAIN = re.compile(r"(?>[\s;\ufeff]|--[^\n]*(?:\n|$)|/\*.*?\*/)*+explain\b", re.IGNORECASE | re.DOTALL)
ACTIONS = {
    sqlite3.SQLITE_ATTACH: "attaches a database",
    sqlite3.SQLITE_DETACH: "detaches a database",
    sqlite3.SQLITE_PRAGMA: "uses a PRAGMA",
    sqlite3.SQLITE_INSERT: "writes",
    sqlite3.SQLITE_UPDATE: "writes",
    sqlite3.SQLITE_DELETE: "writes",
    sqlite3.SQLITE_TRANSACTION: "begins or ends a transaction",
    sqlite3.SQLITE_SAVEPOINT: "begins or ends a transaction",
    sqlite3.SQLITE_ANALYZE: "writes statistics",
    sqlite3.SQLITE_REINDEX: "writes an index",
}
READ_ONLY = "a query may only read the package's tables"


class Failure(Exception):
    """The query ends here: the outcome that stands for it, and one sentence."""

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome, self.detail = outcome, detail


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.readline())
    answer: dict[str, Any]
    try:
        answer = {"result": run(request)}
    except Failure as failure:
        answer = {"failure": failure.outcome, "detail": failure.detail}
    except MemoryError:
        answer = {"failure": "timed_out", "detail": _memory_sentence(request)}
    except RecursionError:
        answer = {"failure": "crashed", "detail": "an input is nested too deeply to be read"}
    sys.stdout.buffer.write(json.dumps(answer, allow_nan=False).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Load the tables, give up every right, and run the query. Raises Failure."""
    deadline = time.monotonic() + request["seconds"]
    codecs.lookup("utf-8-sig")  # loaded now: later no file opens, ours neither
    files = {name: open_input(table["file"], table["path"]) for name, table in request["tables"].items()}
    give_up_rights(request["seconds"], request["memory_bytes"])
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {request['memory_bytes'] * 3 // 4}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_CHECKS)
    names: list[str] = []
    for name, file in files.items():
        try:
            load_table(connection, name, names, file, request["tables"][name]["path"])
        except sqlite3.Error as error:
            path = request["tables"][name]["path"]
            if time.monotonic() > deadline:
                raise Failure("timed_out", f"{path}: could not be loaded within the time limit") from error
            raise Failure("crashed", f"{path}: can't be loaded: {error}") from error
        names.append(name)
        file.close()
    return query(connection, request, names, deadline)


def give_up_rights(seconds: float, memory_bytes: int) -> None:
    """No more files, no growing file, no child; bounded time and memory, for good."""
    cpu = math.ceil(seconds) + 1
    wanted = {
        resource.RLIMIT_CPU: (cpu, cpu + 1),
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (0, 0),
        resource.RLIMIT_NPROC: (0, 0),
    }
    for what, (soft, hard) in wanted.items():
        _, ceiling = resource.getrlimit(what)
        if ceiling >= 0:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(what, (soft, hard))


def query(
    connection: sqlite3.Connection, request: dict[str, Any], names: list[str], deadline: float
) -> dict[str, Any]:
    """Run the one statement behind the authorizer and take its rows within the limits. Raises Failure."""
    sql = request["sql"]
    if EXPLAIN.match(sql):
        raise Failure("refused", "explains a query and runs none; expected one SELECT")
    try:
        guard = lock(connection, names)
    except sqlite3.Error as error:
        raise Failure("crashed", f"the query engine can't be locked down: {error}") from error
    try:
        cursor = connection.execute(sql, bindings(request["parameters"]))
        if cursor.description is None:
            raise Failure("refused", "is not a query that gives rows; expected one SELECT")
        columns = [column[0] for column in cursor.description]
        rows = take(cursor, columns, request["rows"], request["result_bytes"])
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise explained(error, guard, names, deadline, request) from error
    except UnicodeError as error:
        raise Failure("crashed", "the query's text or result isn't Unicode") from error
    return {"columns": columns, "rows": rows, "read": sorted(guard.read)}


class Guard:
    """SQLite's authorizer: allows reading the package's tables and pure functions, notes the rest."""

    def __init__(self, names: list[str]) -> None:
        self._names = {name.lower(): name for name in names}
        self.read: set[str] = set()
        self.refusal: str | None = None

    def __call__(
        self, action: int, first: str | None, second: str | None, _base: str | None, via: str | None
    ) -> int:
        if action == sqlite3.SQLITE_SELECT and (via or "").lower() in self._names:
            return self._refuse(
                f"calls a table of its own {via!r}, as an input is called; choose another name"
            )
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table = (first or "").lower()
            if table.startswith(("sqlite_", "pragma_", "dbstat", "fts")) and table not in self._names:
                return self._refuse(f"reads {first}; {READ_ONLY}")
            if table in self._names:
                self.read.add(self._names[table])
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in PURE_FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self._refuse(function_refusal(second or "?"))
        return self._refuse(f"{ACTIONS.get(action, 'changes the database')}; {READ_ONLY}")

    def _refuse(self, why: str) -> int:
        self.refusal = self.refusal or why
        return sqlite3.SQLITE_DENY


def function_refusal(name: str) -> str:
    """Why a function may not be called."""
    return f"calls {name}(), which isn't among the functions that depend on their arguments alone"


def lock(connection: sqlite3.Connection, names: list[str]) -> Guard:
    """Take away everything that a query doesn't need; from here on nothing can be given back."""
    for table in ("json_each('[]')", "json_tree('[]')"):
        connection.execute(f"SELECT * FROM {table}").fetchall()
    guard = Guard(names)
    replace_date_functions(connection, guard)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    limits = {
        sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
        sqlite3.SQLITE_LIMIT_ATTACHED: 0,
        sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
        sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 500,
        sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
        sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1000,
        sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
        sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
        sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    }
    for what, most in limits.items():
        connection.setlimit(what, most)
    connection.set_authorizer(guard)
    return guard


def replace_date_functions(connection: sqlite3.Connection, guard: Guard) -> None:
    """SQLite's own date functions, but without the time of day and the local time zone."""
    plain = sqlite3.connect(":memory:", isolation_level=None)

    def fixed(name: str) -> Callable[..., Any]:
        least = 2 if name in ("strftime", "timediff") else 1

        def call(*arguments: Any) -> Any:
            if len(arguments) < least or any(NOT_A_DATE.fullmatch(as_sqlite_reads(a)) for a in arguments):
                guard.refusal = f"asks {name}() for the time of day or a time zone; write the date out"
                raise ValueError(guard.refusal)
            marks = ", ".join("?" * len(arguments))
            return plain.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]

        return call

    for name in DATE_FUNCTIONS:
        connection.create_function(name, -1, fixed(name), deterministic=True)


def as_sqlite_reads(argument: Any) -> str:
    """The text that a date function sees: a blob is one as well, and a NUL ends it."""
    text = argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)
    return text.partition("\0")[0]


def bindings(parameters: dict[str, Any]) -> dict[str, Any]:
    """The scalar parameters, for `:name` in the query."""
    return {
        name: value
        for name, value in parameters.items()
        if (value is None or isinstance(value, (str, int, float)))
        and not (isinstance(value, int) and not -(2**63) <= value < 2**63)
    }


def take(cursor: sqlite3.Cursor, columns: list[str], most_rows: int, most_bytes: int) -> list[list[Any]]:
    """The rows as plain JSON values within the limits. Raises Failure."""
    rows: list[list[Any]] = []
    size = 0
    for row in cursor:
        if len(rows) == most_rows:
            raise Failure("crashed", f"gives more than {most_rows} rows; narrow it down")
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, bytes):
                raise Failure("crashed", f"gives a blob in column {column!r}; use hex() to give text")
            if isinstance(value, float) and not math.isfinite(value):
                raise Failure("crashed", f"gives {value} in column {column!r}, which is no finite number")
            size += len(value) if isinstance(value, str) else 8
        if size > most_bytes:
            raise Failure("crashed", f"gives more than {most_bytes} bytes; narrow it down")
        rows.append(list(row))
    return rows


def explained(
    error: Exception, guard: Guard, names: list[str], deadline: float, request: dict[str, Any]
) -> Failure:
    """SQLite's error as an outcome and a sentence."""
    message = str(error)
    if guard.refusal is not None:
        return Failure("refused", f"the query {guard.refusal}")
    if message == "interrupted" or time.monotonic() > deadline:
        return Failure("timed_out", f"was stopped after its limit of {request['seconds']:g} s")
    if "out of memory" in message:
        return Failure("timed_out", _memory_sentence(request))
    if "one statement" in message:
        return Failure("refused", "holds more than one statement; expected one SELECT")
    unknown = re.fullmatch(r"no such function: (.*)", message)
    if unknown:
        return Failure("refused", f"the query {function_refusal(unknown.group(1))}")
    if message.startswith("no such table"):
        known = ", ".join(names) if names else "none"
        return Failure("crashed", f"{message}; its tables are: {known}")
    if "binding" in message or "did not supply a value" in message:
        return Failure("crashed", f"names a parameter that the analysis doesn't give as a scalar: {message}")
    return Failure("crashed", f"SQLite says: {message}")


def _memory_sentence(request: dict[str, Any]) -> str:
    return f"needed more than its limit of {request['memory_bytes'] >> 20} MiB of memory"


def open_input(file: str, path: str) -> BinaryIO:
    """Open one input. Raises Failure when its kind is unknown or it isn't there."""
    if kind_of(path) is None:
        raise Failure("refused", f"{path}: is not a table; a query reads .csv, .tsv, .tab and .json files")
    try:
        return open(file, "rb")
    except OSError as error:
        raise Failure("crashed", f"{path}: can't be opened: {error.strerror}") from error


def kind_of(path: str) -> str | None:
    """csv, tsv or json by the end of the name, or None."""
    ending = os.path.splitext(path)[1].lower()
    return {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json"}.get(ending)


def load_table(
    connection: sqlite3.Connection, name: str, earlier: list[str], file: BinaryIO, path: str
) -> None:
    """Make one table of one file. Raises Failure with file and line of what is wrong."""
    if not name or "\0" in name or name.lower().startswith("sqlite_"):
        _wrong(path, f"can't be a table called {name!r}; choose another name")
    if name.lower() in (other.lower() for other in earlier):
        _wrong(path, f"two inputs are called {name!r}; SQL doesn't distinguish upper and lower case")
    if kind_of(path) == "json":
        columns, rows = json_table(file, path)
        check_names(columns, path)
        make_table(connection, name, [(column, "") for column in columns], rows)
        return
    delimiter = "\t" if kind_of(path) == "tsv" else ","
    try:
        columns, types = column_types(csv_rows(file, delimiter, path), path)
        rows = csv_rows(file, delimiter, path)
        next(rows)
        typed = typed_rows(rows, [CONVERTERS[kind] for kind in types])
        make_table(connection, name, list(zip(columns, types, strict=True)), typed)
    except UnicodeDecodeError:
        _wrong_encoding(file, path)


CONVERTERS: dict[str, Callable[[str], Any]] = {"INTEGER": int, "REAL": float, "TEXT": str}


def batches(rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    """Rows by the thousand, so that whole columns are looked at in one step."""
    while batch := list(itertools.islice(rows, ROWS_AT_ONCE)):
        yield batch


def typed_rows(
    rows: Iterator[list[str]], converters: list[Callable[[str], Any]]
) -> Iterator[tuple[Any, ...]]:
    """The rows with each cell as its column's type, and empty cells as None."""
    for batch in batches(rows):
        yield from zip(
            *(
                map(convert, column) if all(column) else [convert(cell) if cell else None for cell in column]
                for convert, column in zip(converters, zip(*batch, strict=True), strict=True)
            ),
            strict=True,
        )


def make_table(
    connection: sqlite3.Connection, name: str, columns: list[tuple[str, str]], rows: Iterator[Sequence[Any]]
) -> None:
    """Create and fill one table."""
    declared = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns)
    connection.execute(f"CREATE TABLE {quoted(name)} ({declared})")
    marks = ", ".join("?" * len(columns))
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
    connection.execute("COMMIT")


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def csv_rows(file: BinaryIO, delimiter: str, path: str) -> Iterator[list[str]]:
    """Header and rows of a delimited file, all of one length. Raises Failure naming file and line."""
    csv.field_size_limit(LONGEST_CELL)
    file.seek(0)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        header: list[str] | None = None
        for row in reader:
            if not row:
                continue
            if header is None:
                header = row
            elif len(row) != len(header):
                _wrong(
                    f"{path} line {reader.line_num}", f"has {_cells(len(row))}; the header has {len(header)}"
                )
            yield row
        if header is None:
            _wrong(path, "is empty; expected a header row")
    except csv.Error as error:
        _wrong(f"{path} line {reader.line_num}", f"can't be read as CSV: {error}")
    finally:
        text.detach()


def column_types(rows: Iterator[list[str]], path: str) -> tuple[list[str], list[str]]:
    """The column names, and INTEGER, REAL or TEXT for each, from every cell of the file."""
    header = next(rows)
    check_names(header, f"{path} line 1")
    kinds = [_ColumnKind() for _ in header]
    for batch in batches(rows):
        for kind, column in zip(kinds, zip(*batch, strict=True), strict=True):
            if not kind.is_text:
                kind.see_column(column)
    return header, [kind.name for kind in kinds]


class _ColumnKind:
    """What the cells of one column have been so far."""

    __slots__ = ("any", "decimal", "is_text", "large", "larger")

    def __init__(self) -> None:
        self.any = self.decimal = self.large = self.larger = self.is_text = False

    def see_column(self, cells: tuple[str, ...]) -> None:
        """Look at many cells: at once when all are short numbers, else one by one."""
        text = "\n".join(cells) + "\n"
        if text.count("\n") == len(cells):
            if SHORT_INTEGERS.fullmatch(text):
                self.any = self.any or any(cells)
                return
            if SHORT_DECIMALS.fullmatch(text) and not self.large:
                self.any = self.decimal = True
                return
        for cell in cells:
            if cell:
                self.see(cell)
                if self.is_text:
                    return

    def see(self, cell: str) -> None:
        self.any = True
        if INTEGER.fullmatch(cell):
            if len(cell) > 15:
                self._see_large(cell)
        elif DECIMAL.fullmatch(cell) and math.isfinite(float(cell)):
            self.decimal = True
        else:
            self.is_text = True
        if self.larger or (self.decimal and self.large):
            self.is_text = True

    def _see_large(self, cell: str) -> None:
        if len(cell) > 20 or not -(2**63) <= int(cell) < 2**63:
            self.larger = True
        elif abs(int(cell)) > 2**53:
            self.large = True

    @property
    def name(self) -> str:
        if self.is_text or not self.any:
            return "TEXT"
        return "REAL" if self.decimal else "INTEGER"


def check_names(columns: list[str], where: str) -> None:
    """Raise Failure when a column has no name, or a name that another has."""
    if not columns:
        _wrong(where, "has no columns")
    if len(columns) > MOST_COLUMNS:
        _wrong(where, f"has {len(columns)} columns; expected at most {MOST_COLUMNS}")
    seen: dict[str, str] = {}
    for position, name in enumerate(columns, 1):
        if not name.strip():
            _wrong(where, f"column {position} has no name")
        if "\0" in name:
            _wrong(where, f"the name of column {position} holds a NUL")
        earlier = seen.get(name.lower())
        if earlier == name:
            _wrong(where, f"two columns are called {name!r}")
        if earlier is not None:
            both = f"columns {earlier!r} and {name!r}"
            _wrong(where, f"{both} differ in case only, which SQL doesn't distinguish")
        seen[name.lower()] = name


def json_table(file: BinaryIO, path: str) -> tuple[list[str], Iterator[list[Any]]]:
    """Columns and rows of a JSON file, by the rule above. Raises Failure."""
    value = parse_json(file.read(), path)
    if isinstance(value, dict):
        if value.keys() == {"columns", "rows"} and isinstance(value["columns"], list):
            return columns_and_rows(value["columns"], value["rows"], path)
        lists = [
            v for v in value.values() if isinstance(v, list) and v and all(isinstance(r, dict) for r in v)
        ]
        value = lists[0] if len(lists) == 1 else [value]
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        _wrong(path, "is no table; expected a list of objects, or an object that holds one")
    columns: dict[str, None] = {}
    for record in value:
        columns.update(dict.fromkeys(record))
    if not columns:
        _wrong(path, "is no table: its list holds no object with a field")
    names = list(columns)
    return names, ([cell(record.get(name)) for name in names] for record in value)


def columns_and_rows(columns: list[Any], rows: Any, path: str) -> tuple[list[str], Iterator[list[Any]]]:
    """The table form that analyses give."""
    if not all(isinstance(name, str) for name in columns):
        _wrong(path, "has column names that aren't text")
    if not isinstance(rows, list):
        _wrong(path, "has 'rows' that aren't a list")
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            _wrong(path, f"row {number} hasn't {_cells(len(columns))} as 'columns' says")
    return columns, ([cell(value) for value in row] for row in rows)


def cell(value: Any) -> Any:
    """A JSON value as SQLite keeps it: nested ones as JSON text, too large integers as text."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def parse_json(data: bytes, path: str) -> Any:
    """Strict JSON: UTF-8, no NaN, no key twice. Raises Failure."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
            _wrong(path, f"an object has the key {twice!r} twice")
        return found

    def finite(text: str) -> float:
        number = float(text)
        if math.isinf(number):
            _wrong(path, f"{text} is beyond the largest number")
        return number

    def constant(text: str) -> NoReturn:
        _wrong(path, f"holds {text}, which is no JSON")

    try:
        text = data.decode("utf-8-sig")
        text.encode("utf-8")
        return json.loads(text, object_pairs_hook=once, parse_float=finite, parse_constant=constant)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _wrong(f"{path} line {line}", f"byte 0x{data[error.start]:02x} isn't UTF-8")
    except json.JSONDecodeError as error:
        _wrong(f"{path} line {error.lineno} column {error.colno}", f"not JSON: {error.msg.lower()}")
    except ValueError as error:
        _wrong(path, f"can't be read as JSON: {error}")


def _wrong_encoding(file: BinaryIO, path: str) -> NoReturn:
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            _wrong(
                f"{path} line {number}", f"byte 0x{line[error.start]:02x} isn't UTF-8; expected a UTF-8 file"
            )
    _wrong(path, "isn't UTF-8; expected a UTF-8 file")


def _wrong(where: str, what: str) -> NoReturn:
    raise Failure("crashed", f"{where}: {what}")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


if __name__ == "__main__":
    main()
