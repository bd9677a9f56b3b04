"""BibTeX: each oddity that files have, with what must come out and why."""

from collections.abc import Callable

import pytest

from ingest.readers import Parsed, read
from schema.work import Rejected


def records(text: str) -> list[Parsed | Rejected]:
    return list(read(text.encode(), "x.bib").records)


def one(text: str) -> Parsed:
    (record,) = records(text)
    assert isinstance(record, Parsed), record
    return record


def authors(field: str) -> list[str]:
    return [a.name for a in one(f"@misc{{a, title={{T}}, author = {field}}}").work.authors]


def named(record: Parsed) -> list[tuple[str, str]]:
    return [(i.scheme, i.value) for i in record.work.identifiers]


def test_a_whole_entry() -> None:
    text = r"""@inproceedings(narayanan2020,
  author = {Narayanan, Deepak and Santhanam, Keshav},
  title = "{Heterogeneity-Aware} Cluster Scheduling",
  subtitle = {Policies},
  booktitle = {14th {USENIX} {OSDI}},
  month = nov # "~4",
  year = 2020, language = {english},
  abstract = {Specialized accelerators, 50% more.},
  doi = {https://doi.org/10.1000/ABC}, url = {https://x.org/~a/b\_c},
  eprint = {2008.09213v1}, archivePrefix = {arXiv}, primaryClass = {cs.DC},
)"""
    record = one(text)
    work = record.work
    assert text == record.raw
    assert (record.line, record.key, record.notes) == (1, "narayanan2020", ())
    assert work.title == "Heterogeneity-Aware Cluster Scheduling: Policies"
    assert [a.name for a in work.authors] == ["Deepak Narayanan", "Keshav Santhanam"]
    assert (
        work.year, work.venue, work.type, work.language,
    ) == (2020, "14th USENIX OSDI", "paper-conference", "english")  # fmt: skip
    assert work.abstract.text == "Specialized accelerators, 50% more."
    assert named(record) == [("doi", "10.1000/abc"), ("arxiv", "2008.09213"), ("url", "https://x.org/~a/b_c")]
    assert work.identifiers[1].version == "v1"
    assert work.note is None


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("{Last, First and First Last}", ["First Last", "First Last"]),
        ("{van der Berg, Jan}", ["Jan van der Berg"]),
        ("{Knuth, Jr, Donald E.}", ["Donald E. Knuth Jr"]),
        (
            "{{World Health Organization} and {Foo and Bar, Inc.}}",
            ["World Health Organization", "Foo and Bar, Inc."],
        ),
        (r"{M{\"u}ller, J{\'a}n AND {\'E}va Nagy}", ["Ján Müller", "Éva Nagy"]),
        ('"A. B.\n   and\n C. D."', ["A. B.", "C. D."]),
        ("{Sandra Anderson and Andy Mand}", ["Sandra Anderson", "Andy Mand"]),  # 'and' inside a name
        ("{Plato}", ["Plato"]),
        ("{Last,}", ["Last"]),
        ("{A~B. Cee}", ["A B. Cee"]),
        ("{ and A B and }", ["A B"]),
        ("{}", []),
    ],
)
def test_names(field: str, expected: list[str]) -> None:
    assert expected == authors(field)


def test_and_others_is_remembered() -> None:
    work = one("@misc{a, title={T}, author={A B and others}}").work
    assert [a.name for a in work.authors] == ["A B"]
    assert work.note == "the record shortens its list of authors with 'and others'"


def test_people_separated_by_commas_are_kept_and_noted() -> None:
    record = one("@misc{a, title={T}, author={A B, C D, E F, G H}}")
    assert record.work.authors[0].name == "A B, C D, E F, G H"
    assert record.notes == ("an author has more than two commas; maybe several people without 'and' between",)


def test_repeated_keys_are_both_kept_apart() -> None:
    first, second, third = records("@misc{a, title={T}}\n@misc{b, title={U}}\n@misc{a, title={V}}")
    assert [r.key for r in (first, second, third) if isinstance(r, Parsed)] == ["a", "b", "a#2"]
    assert isinstance(third, Parsed)
    assert third.notes == (
        "the key 'a' was used before (first in line 1); this record is kept beside it as 'a#2'",
    )


def test_repeated_field_keeps_the_first_and_says_so() -> None:
    record = one("@misc{a, title={T}, Title={U}, url={https://a.org/}, url={https://b.org/}}")
    assert record.work.title == "T"
    assert named(record) == [("url", "https://a.org/"), ("url", "https://b.org/")]
    assert "the field 'title' comes more than once; the first is used" in record.notes


@pytest.mark.parametrize(
    ("text", "venue"),
    [
        ("@string{o = {OSDI}}\n@misc{a, title={T}, journal = o}", "OSDI"),
        ('@STRING(o = "OSDI")\n@misc{a, title={T}, journal = O # { } # "20"}', "OSDI 20"),
        ("@misc{a, title={T}, journal = o}\n@string{o = {late}}", "late"),
        ("@string{p = {X}}@string{o = p # {Y}}\n@misc{a, title={T}, journal = o}", "XY"),
        ("@string{o={1}}\n@misc{a, title={T}, journal=o}\n@string{o={2}}", "1"),  # the one before it
    ],
)
def test_strings(text: str, venue: str) -> None:
    assert venue == one(text).work.venue


def test_undefined_string_keeps_its_name_with_a_note() -> None:
    record = one("@misc{a, title={T}, journal = nature, month = foo}")
    assert record.work.venue == "nature"
    assert record.notes == ("the @string 'nature' is not defined; its name is used",)


def test_comments_and_preambles_are_no_records() -> None:
    text = 'Prose about x = y.\n@preamble{"\\newcommand{\\x}{y}"}\n@comment{jabref-meta: a;}\n% @ home\n'
    text += "@misc{a, title={T}}"
    assert one(text).line == 5


def test_comment_between_fields() -> None:
    assert one("@misc{a, title={T}, % title and more\n  year = 2001}").work.year == 2001


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (
            "@misc{x, title = {A {B}, year = 2000}\n",
            "@misc 'x' isn't closed before the next entry starts in line 4; a '}' or '\"' is missing",
        ),
        (
            "@misc{x, title = {A} B}, year = {2000}}\n",
            "entry 'x' ends before its last fields: a brace or quote too many closes it early",
        ),
        (
            "@misc{x, title = {A} year = 2000}\n",
            "entry 'x', field 'title': 'year = 2000' follows a finished value; a comma is missing before it",
        ),
        ("@misc{x, year = 2000}\n", "entry 'x' has no title; expected a field 'title'"),
        ("@misc{x, title = {~{ }}}\n", "entry 'x' has no title; expected a field 'title'"),
        ("@misc{x}\n", "entry 'x' has no title; expected a field 'title'"),
        ("@misc{title = {T}}\n", "@misc 'title' can't be read: Expected comma after entry key, but found ="),
        ("@misc{x, title = }\n", "entry 'x', field 'title': a value is missing"),
        ("% @misc{x, title = {T}}\n", "entry 'x' is commented out with '%'"),
        (
            "@ misc{x, title = {T}}\n",
            "this starts with '@' but isn't an entry; expected '@type{key, field = {value}}'",
        ),
        ("x,\n title = {T}\n", "fields stand outside any entry; expected '@type{key,' before them"),
    ],
)
def test_a_bad_entry_is_set_aside_and_the_next_survive(bad: str, reason: str) -> None:
    first, rejected, last = records("@misc{a, title={T}}\n\n" + bad + "@misc{b, title={U}}\n")
    assert isinstance(first, Parsed)
    assert isinstance(last, Parsed)
    assert isinstance(rejected, Rejected)
    assert reason == rejected.reason
    assert rejected.line == 3
    assert bad.strip().removeprefix("% ") == rejected.raw
    assert ("b", 3 + bad.count("\n")) == (last.key, last.line)


def test_an_entry_that_the_file_cuts_off() -> None:
    (rejected,) = records('@misc{x, title = "T')
    assert isinstance(rejected, Rejected)
    assert rejected.reason == "@misc 'x' isn't closed when the file ends; a '}' or '\"' is missing"
    assert rejected.raw == '@misc{x, title = "T'


def test_a_stray_brace_behind_a_complete_entry_harms_nothing() -> None:
    assert [r.key for r in records("@misc{a, title={T}}}\n@misc{b, title={U}}") if isinstance(r, Parsed)] == [
        "a",
        "b",
    ]


def test_lines_are_right_behind_a_backslash() -> None:
    assert records("@misc{a, title={T\\\n}}\n@misc{b, title={U}}")[1].line == 3  # the splitter says 2


@pytest.mark.parametrize(
    ("field", "year", "note"),
    [
        ("year = 2020", 2020, None),
        ("year = {{2020}}", 2020, None),
        ("date = {2020-07-01}", 2020, None),
        ("year = {in press}", None, "the year is given as 'in press'"),
        ("year = {2019/2020}", 2019, "the year is given as '2019/2020'"),
        ("year = {c. 1999a}", 1999, "the year is given as 'c. 1999a'"),
        ("year = {20200}", None, "the year is given as '20200'"),
        ("year = {}", None, None),
    ],
)
def test_years(field: str, year: int | None, note: str | None) -> None:
    work = one(f"@misc{{a, title={{T}}, {field}}}").work
    assert (year, note) == (work.year, work.note)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (r"doi = {10.1000/a\_b}", [("doi", "10.1000/a_b")]),
        (
            r"doi = {10.1002/(SICI)1097-4571(199806)49:8$<$693::AID-ASI4$>$3.0.CO;2-O}",
            [("doi", "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o")],
        ),
        ("doi = {10.48550/arXiv.2008.09213}, eprint = {2008.09213}", [("arxiv", "2008.09213")]),
        (
            "eprint = {0309136}, archiveprefix = {arXiv}, primaryclass = {math.GT}",
            [("arxiv", "math/0309136")],
        ),
        ("eprint = {123}, eprinttype = {pubmed}", [("pmid", "123")]),
        ("eprint = {123}", []),  # nobody says what it is
        ("journal = {arXiv preprint arXiv:2008.09213}", [("arxiv", "2008.09213")]),
        (r"howpublished = {\url{https://x.org/~a}}", [("url", "https://x.org/~a")]),
        ("note = {Erratum in 10.1000/other}", []),  # another work's DOI
        ("pmid = {123}, openalex = {W2741809807}", [("pmid", "123"), ("openalex", "W2741809807")]),
    ],
)
def test_identifiers(fields: str, expected: list[tuple[str, str]]) -> None:
    assert expected == named(one(f"@article{{a, title={{T}}, {fields}}}"))


def test_an_isbn_names_a_book_and_not_its_chapters() -> None:
    isbn = "isbn = {978-0-306-40615-7 (print), 0-306-40615-2}"
    assert named(one(f"@book{{a, title={{T}}, {isbn}}}")) == [("isbn", "9780306406157")]
    chapter = one(f"@incollection{{a, title={{T}}, {isbn}}}")
    assert named(chapter) == []
    assert "names a whole book, not this chapter" in chapter.notes[0]


def test_what_is_no_doi_is_left_out_with_a_note() -> None:
    assert one("@misc{a, title={T}, doi={n/a}}").notes == ("doi 'n/a' isn't a valid doi and is left out",)


def test_crossref_hands_down_venue_and_year_but_no_names_of_the_parent() -> None:
    child, parent = records(
        "@inproceedings{c, title={T}, crossref={P}}\n"
        "@proceedings{p, title={Proc. X}, year=2001, doi={10.1000/p}}"
    )
    assert isinstance(child, Parsed)
    assert isinstance(parent, Parsed)
    assert (child.work.venue, child.work.year, named(child)) == ("Proc. X", 2001, [])
    lost = one("@misc{c, title={T}, crossref={gone}}")
    assert lost.notes == ("crossref 'gone' is not in this file",)


def test_same_file_same_records() -> None:
    text = "@misc{a, title={T}, eprint={2008.09213}}\n@misc{b\n@misc{a, title={U}}"
    assert records(text) == records(text)


def test_work_grows_with_the_file_and_no_faster(calls: Callable[[Callable[[], object]], int]) -> None:
    """Ten times the entries, all of one key: ten times the calls; searching for each would make a hundred."""

    def work(n: int) -> int:
        text = "".join(f"@misc{{same, title={{T {i}}}, author={{A B and C, D}}}}\n" for i in range(n))
        return calls(lambda: records(text))

    work(20)
    assert work(2000) < 12 * work(200)
