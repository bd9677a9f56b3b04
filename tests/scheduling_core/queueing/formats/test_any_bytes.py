"""Whatever bytes a file has, a reader gives an import or one sentence, never anything else."""

import gzip
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats import FORMATS, Import, read_trace, write_trace
from scheduling_core.queueing.jobs import Job, Trace

SAMPLES = Path(__file__).parent / "samples"
RATES = SAMPLES / "rates.json"
OWN = write_trace(Trace("t", (Job("a", 0, 1, 5, 9), Job("b\n", 1, 2, 3, model="")))).encode()
CONTENTS = [*(path.read_bytes() for path in sorted(SAMPLES.iterdir())), OWN]
PIECES = st.sampled_from(
    [b"", b"-", b"nan", b"1e99", b"1e-9", b"0", b",", b"\t", b"\n", b'"', b"[", b"]", b"{", b"null",
     b"\xff", b"\x00", b"\xed\xa0\x80", b'"\\ud800"', b"9" * 20, b"\xef\xbb\xbf", b"9" * 5000, b"[" * 9000]
)  # fmt: skip
EDITS = st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 12), PIECES), max_size=4)
ODD = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def told(path: Path, format: str | None, skip_bad: bool) -> Import | None:
    """What a reader makes of a file; None for a sentence, which has to be one and name the file."""
    gavel = format == "gavel" or (format is None and b"\t" in path.read_bytes())
    try:
        return read_trace(path, format=format, skip_bad=skip_bad, throughputs=RATES if gavel else None)
    except SchedulingError as error:
        sentence = str(error)
    assert sentence.startswith("FILE")
    assert "\n" not in sentence
    return None


def check(path: Path, format: str | None) -> None:
    strict, lax = told(path, format, False), told(path, format, True)
    if strict is not None:
        assert strict.rejected == ()
        assert strict == lax
    if lax is not None:
        assert len(lax.trace) > 0
        assert all(item.reason.startswith(f"{item.where}: ") for item in lax.rejected)
        assert len(lax.trace.sha256) == 64


@settings(suppress_health_check=ODD)
@given(
    content=st.binary(max_size=80), start=st.sampled_from([b"", b"\x1f\x8b\x08", b"[", b"; ", OWN[:40]]),
    format=st.sampled_from([None, *FORMATS]),
)  # fmt: skip
def test_any_bytes(tmp_path: Path, content: bytes, start: bytes, format: str | None) -> None:
    path = tmp_path / "FILE"
    path.write_bytes(start + content)
    check(path, format)


@settings(suppress_health_check=ODD, max_examples=400)
@given(
    content=st.sampled_from(CONTENTS), edits=EDITS, cut=st.integers(0, 60), packed=st.booleans(),
    format=st.sampled_from([None, None, None, *FORMATS]),
)  # fmt: skip
def test_samples_that_are_damaged(
    tmp_path: Path, content: bytes, edits: list[tuple[int, int, bytes]], cut: int, packed: bool,
    format: str | None,
) -> None:  # fmt: skip
    """Pieces put in place of others, and files cut short: near enough to a trace to get far into a reader."""
    for place, length, piece in edits:
        place %= len(content) + 1
        content = content[:place] + piece + content[place + length :]
    stored = gzip.compress(content) if packed else content
    path = tmp_path / "FILE"
    path.write_bytes(stored[: len(stored) - cut // 6] if cut % 2 else stored)
    check(path, format)


@settings(suppress_health_check=ODD)
@given(content=st.binary(max_size=60) | st.sampled_from(CONTENTS), edits=EDITS)
def test_rates_of_any_bytes(tmp_path: Path, content: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    """The file beside a Gavel trace may be damaged as well."""
    for place, length, piece in edits:
        place %= len(content) + 1
        content = content[:place] + piece + content[place + length :]
    path = tmp_path / "FILE"
    path.write_bytes(content)
    sentence = None
    try:
        read_trace(SAMPLES / "gavel.trace", throughputs=path)
    except SchedulingError as error:
        sentence = str(error)
    assert sentence is None or sentence.startswith(("FILE: this is no file of rates", "gavel.trace"))
