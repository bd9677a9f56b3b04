"""The two facts that come from outside every record: when it is, and who is at work."""

import getpass
from datetime import UTC, datetime


def now() -> str:
    """The time in UTC to the microsecond, as every timestamp is stored."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def whoami() -> str:
    """The name of the operating system's user, or `unknown` where it has none."""
    try:
        return getpass.getuser() or "unknown"
    except (OSError, KeyError, ImportError):
        return "unknown"
