"""The packages that come with proofshelf, each a folder that stands by itself.

`bundled()` names them; `python -m artifacts.packages.rebuild` makes their generated files again.
Nothing here is imported by a package's own scripts, which need the standard library only.
"""

from pathlib import Path


def bundled() -> dict[str, Path]:
    """The folder of every bundled package, by package id, in alphabetical order."""
    here = Path(__file__).parent
    return {manifest.parent.name: manifest.parent for manifest in sorted(here.glob("*/manifest.json"))}
