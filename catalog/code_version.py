"""Which code is running: the installed version and, in a checkout, its commit."""

import subprocess
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def code_version() -> tuple[str, str | None]:
    """Version, marked `+changed` where tracked files differ from the commit, and the commit if known."""
    try:
        version = metadata.version("proofshelf")
    except metadata.PackageNotFoundError:
        version = "uninstalled"
    if not (_ROOT / ".git").exists():
        return version, None
    commit = _git("rev-parse", "HEAD")
    if commit is None or len(commit) != 40:
        return version, None
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{version}+changed" if changed else version, commit


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
