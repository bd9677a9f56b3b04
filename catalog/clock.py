"""What comes from outside every record: when it is, who is at work, and what the system calls a file."""

import getpass
from datetime import UTC, datetime


def now() -> str:
    """The time in UTC to the microsecond, as every timestamp is stored."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def whoami() -> str:
    """The name of the operating system's user, or `unknown` where it has none."""
    try:
        return as_text(getpass.getuser()) or "unknown"
    except (OSError, KeyError, ImportError):
        return "unknown"


def as_text(given: str) -> str:
    """A name from the system as text that can be stored: a byte that is no UTF-8 stands as \\xff."""
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
