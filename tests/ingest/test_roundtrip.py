"""Works written as BibTeX or CSL-JSON by a few plain lines come back as they were."""

import json
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path

from hypothesis import given
from hypothesis import strategies as st

from ingest.readers import Parsed, read
from schema.work import Abstract, Work

works = run_path(str(Path(__file__).with_name("strategies.py")))["works"]


def as_bibtex(number: int, work: Work) -> str:
    fields = {
        "title": work.title,
        "author": " and ".join(a.name for a in work.authors),
        "journal": work.venue,
    }
    fields |= {"year": work.year and str(work.year), "abstract": work.abstract.text}
    for i in work.identifiers:
        fields["eprint" if i.scheme == "arxiv" else i.scheme] = i.value + (i.version or "")
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@article{{k{number},\n{''.join(lines)}}}\n\n"


def as_csl(number: int, work: Work) -> dict[str, object]:
    item: dict[str, object] = {"id": f"k{number}", "title": work.title}
    item["author"] = [{"literal": a.name} for a in work.authors]
    item["issued"] = {"date-parts": [[work.year]]} if work.year else {}
    item["container-title"], item["abstract"] = work.venue or "", work.abstract.text
    for i in work.identifiers:
        item[i.scheme.upper() if i.scheme != "arxiv" else "arxiv"] = i.value + (i.version or "")
    return item


def _come_back(written: Sequence[Work], data: bytes, source: str, kind: str | None) -> None:
    found = list(read(data, "x").records)
    expected = [
        work.model_copy(
            update={
                "type": kind,
                "abstract": Abstract(text=work.abstract.text, source=source)
                if work.abstract.text
                else Abstract(),
            }
        )
        for work in written
    ]
    assert expected == [r.work for r in found if isinstance(r, Parsed)]
    assert len(written) == len(found)
    assert all(r.notes == () for r in found if isinstance(r, Parsed))


@given(st.lists(works, min_size=1, max_size=6))
def test_bibtex(written: list[Work]) -> None:
    text = "".join(as_bibtex(i, work) for i, work in enumerate(written))
    _come_back(written, text.encode(), "BibTeX record", "article-journal")
    lines = text.split("\n")
    for record in read(text.encode(), "x").records:
        assert isinstance(record, Parsed)
        assert lines[(record.line or 0) - 1] == f"@article{{{record.key},"


@given(st.lists(works, min_size=1, max_size=6))
def test_csl(written: list[Work]) -> None:
    data = json.dumps([as_csl(i, work) for i, work in enumerate(written)]).encode()
    _come_back(written, data, "CSL-JSON record", None)
