"""On what a run runs: versions that could make numbers differ."""

import importlib.metadata
import platform
import sqlite3

from schema.verification import Environment

_PACKAGES = ("beautifulsoup4", "highspy", "numpy", "proofshelf", "pydantic", "scipy")


def environment() -> Environment:
    """The environment of this process; packages that aren't installed are left out, none is imported."""
    versions: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return Environment(
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=platform.platform(),
        machine=platform.machine(),
        sqlite=sqlite3.sqlite_version,
        packages=versions,
    )
