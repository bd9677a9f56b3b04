"""An edit of screening is found, though it goes behind every guard."""

import sqlite3
from collections.abc import Callable

import pytest

from catalog.append_only import create_triggers, triggers
from catalog.store import Catalog


@pytest.fixture
def edit(everything: Catalog) -> Callable[[str], list[str]]:
    """Edits with every trigger out of the way, puts them back, and returns what an audit says."""

    def run(statement: str) -> list[str]:
        connection = sqlite3.connect(everything.path)
        for name in triggers():
            connection.execute(f'DROP TRIGGER "{name}"')
        assert connection.execute(statement).rowcount > 0
        create_triggers(connection)
        connection.commit()
        connection.close()
        return [problem.sentence for problem in everything.audit().problems]

    return run


def test_what_was_written_is_sound(everything: Catalog) -> None:
    assert everything.audit(objects=True).problems == ()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "UPDATE studies SET content = replace(content, 'tiny study', 'great study')",
            "study tiny (version 1) was edited: its content doesn't give its hash",
        ),
        ("UPDATE rounds SET panel = 2 WHERE slug = 'screen'", "it isn't as its study has it"),
        ("UPDATE rounds SET study_sha256 = 'x' WHERE slug = 'screen'", "the version of study tiny that"),
        ("DELETE FROM round_raters WHERE role = 'adjudicator'", "it isn't as its study has it"),
        ("UPDATE samples SET design = replace(design, 's', 't')", "its design isn't the study's"),
        ("UPDATE sample_works SET weight = 2", "a weight isn't the size of its stratum over what was drawn"),
        ("UPDATE sample_works SET inclusion_probability = 0.5", "a weight isn't the size of its stratum"),
        ("DELETE FROM sample_works WHERE rank = 2", "its works aren't as many as its strata say"),
        ("UPDATE sample_strata SET frame_size = 3", "its works aren't as many as its strata say"),
        (f"UPDATE chunks SET sha256 = '{'0' * 64}'", "chunk 1 of round screen was edited: its works"),
        ("DELETE FROM chunk_works WHERE position = 2", "chunk 1 of round screen was edited"),
        ("UPDATE chunks SET position = 2", "the manifest of round screen was edited: a chunk was removed"),
        ("UPDATE answers SET raw = 'other words'", "answer 1 was edited: what was said"),
        ("DELETE FROM votes WHERE answer_id = 1 AND work_id = 1", "with 2 votes, but 1 are here"),
        ("UPDATE votes SET rater_id = (SELECT id FROM raters WHERE slug = 'ben') WHERE answer_id IS NULL "
         "AND round_id = (SELECT id FROM rounds WHERE slug = 'screen')", "don't give its name"),
        ("UPDATE adjudications SET slug = 'other' WHERE supersedes IS NULL", "adjudication other was edited"),
        ("DELETE FROM scores WHERE scoring = 1 AND value = 0.75", "with 2 scores of 2 works, but 1 of 1"),
        ("DELETE FROM decisions", "decision run run was edited: its calls aren't as many as it counts"),
    ],
)  # fmt: skip
def test_an_edit_is_named(edit: Callable[[str], list[str]], statement: str, sentence: str) -> None:
    said = edit(statement)
    assert any(sentence in line for line in said), said


def test_a_rank_that_was_swapped(everything: Catalog, edit: Callable[[str], list[str]]) -> None:
    said = edit("UPDATE sample_works SET rank = 10 - rank")
    assert "sample first of study tiny was edited: stratum all isn't in the order of the draw" in said


def test_what_no_longer_reads_is_named_without_a_traceback(edit: Callable[[str], list[str]]) -> None:
    said = edit("UPDATE decision_runs SET quotas = 'no json'")
    assert "decision runs can't be read as they were written (JSONDecodeError): a row was edited" in said
