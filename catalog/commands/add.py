"""`proofshelf add`."""

from pathlib import Path
from typing import Any

import click

from artifacts.packages import bundled
from catalog import queries
from catalog.commands.library import each, who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, say
from catalog.commands.words import count
from catalog.store import Added, Catalog
from schema.states import ClaimKind


@click.command("add")
@click.argument("packages", metavar="PACKAGE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@database_option
@json_option
def command(packages: tuple[Path, ...], db: Path, as_json: bool) -> int:
    """Take packages into the catalog.

    PACKAGE is a folder, or a .zip or .tar archive, with a manifest.json, or the name of a package that
    comes with proofshelf (seer-deepswe-like, say). Each is taken whole or not at all. The same package
    again changes nothing; a changed one becomes a new version beside the old. One that is refused stops no
    other, and makes the exit code 1.

    \b
    Examples:
      proofshelf add my-package
      proofshelf add first.zip second.tar.gz --json
    """
    with writing(db) as catalog:

        def add(path: Path) -> dict[str, Any]:
            facts = add_package(catalog, place(path))
            if not as_json:
                say(sentence(facts))
            return facts

        done, refused = each(packages, add)
    if as_json:
        print_json({"packages": done, "refused": refused})
    return 1 if refused else 0


def place(path: Path) -> Path:
    """The path, or where a bundled package of that name is when nothing else is there."""
    return path if path.exists() else bundled().get(str(path), path)


def add_package(catalog: Catalog, path: Path) -> dict[str, Any]:
    """Add one package; returns what became of it, with its counts and the next step."""
    added: Added = catalog.add_package(path, who=who())
    page = queries.artifact(catalog.connection, added.slug, added.version)
    claims = page.manifest.claims
    return {
        "path": str(path),
        "package": added.slug,
        "version": added.version,
        "versions": list(page.versions),
        "state": added.state,
        "work": added.work,
        "files": len(page.manifest.files),
        "claims": len(claims),
        "findings": sum(claim.kind is ClaimKind.FINDING for claim in claims),
        "analyses": len(page.manifest.analyses),
        "next": f"proofshelf verify {added.slug}",
    }


def sentence(facts: dict[str, Any]) -> str:
    """What became of a package, for a person."""
    name, version = facts["package"], facts["version"]
    if facts["state"] == "unchanged":
        return (
            f"{name} is here already as version {version}, unchanged; nothing was done. Next: {facts['next']}"
        )
    findings = f" ({count(facts['findings'], 'finding')})" if facts["findings"] else ""
    counts = f"{count(facts['claims'], 'claim')}{findings}, {count(facts['files'], 'file')}"
    if facts["state"] == "new version":
        others = [str(v) for v in facts["versions"] if v != version]
        beside = f"beside version{'s' if len(others) > 1 else ''} {', '.join(others)}"
        return f"Added {name} as version {version}, {beside}: {counts}. Next: {facts['next']}"
    return f"Added {name}, version {version}, to the work {facts['work']}: {counts}. Next: {facts['next']}"
