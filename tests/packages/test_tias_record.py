"""The TIAS record against its published page, copied out by hand."""

from pathlib import Path

import pytest

from schema.artifact import Manifest
from schema.screening_record import ScreeningRecord
from schema.states import ScreeningState, screening_state

# Codex and Gemma, in score order, as printed.
SCORES = {
    "metaresearch": ("0.002", "0.004"),
    "metaepi_narrow": ("0.001", "0.001"),
    "metaepi_broad": ("0.001", "0.000"),
    "bibliometrics": ("0.001", "0.001"),
    "sts": ("0.001", "0.001"),
    "scholarly_communication": ("0.001", "0.001"),
    "open_science": ("0.004", "0.002"),
    "research_integrity": ("0.001", "0.001"),
    "insufficient_payload": ("0.003", "0.001"),
}
FULL_FRAME = (
    "Machine predicted; a candidate call from one source (direct Gemma or distilled Codex), not a consensus."
)
# Pieces of the page's and the paper's own sentences, which must not come along.
THEIR_WORDS = (
    "GPU cluster job scheduling algorithm for deep learning workloads",
    "a computer systems contribution, not a study of research",
    "The work studies GPU job scheduling",
    "not research as a system or practice",
    "Systems paper on GPU-cluster job scheduling",
    "not study of research practice",
    "a trend towards larger models and larger datasets",
    "little attention has been paid to the execution deadlines",
    "Experiments on a trace-driven simulator prove",
    "can achieve the best trade-off between deadline miss rate",
    "The two teacher heads of the student model",
    "A score orders the frame for review",
    "Scores rank; they never assert a category",
    "fields without enough sample support carry no Codex call",
)


@pytest.fixture(scope="module")
def record(tias: Path) -> ScreeningRecord:
    return ScreeningRecord.model_validate_json((tias / "screening.json").read_bytes())


@pytest.fixture(scope="module")
def package(tias: Path) -> Manifest:
    return Manifest.model_validate_json((tias / "manifest.json").read_bytes())


def test_scores_are_stored_exactly_as_published(record: ScreeningRecord) -> None:
    stored = {(s.category, s.head): s.value for s in record.scores}
    expected = {
        (category, head): value
        for category, pair in SCORES.items()
        for head, value in zip(("Codex", "Gemma"), pair, strict=True)
    }
    assert expected == stored
    assert {(s.work, s.release) for s in record.scores} == {("tias", "metacan-v0-immature-baseline")}


def test_every_score_is_a_claim_that_nothing_recomputes(package: Manifest) -> None:
    for category, pair in SCORES.items():
        for head, value in zip(("codex", "gemma"), pair, strict=True):
            claim = next(c for c in package.claims if c.id == f"score-{head}-{category.replace('_', '-')}")
            assert claim.value == value
            assert claim.evidence == ()
    assert len(package.claims) == 19
    assert package.analyses == ()


def test_the_papers_own_claim_is_words_of_ours_and_stays_saved(package: Manifest) -> None:
    claim = next(c for c in package.claims if c.id == "best-trade-off")
    assert claim.type == "text"
    assert claim.evidence == ()
    assert "paraphrased" in (claim.basis or "")


def test_three_models_called_it_out_of_scope_and_none_is_named(record: ScreeningRecord) -> None:
    assert [v.decision for v in record.votes] == ["out_of_scope"] * 3
    assert {v.reason_wording for v in record.votes} == {"paraphrased"}
    assert len({v.rater for v in record.votes}) == 3
    assert [(r.kind, r.name) for r in record.raters] == [("model", "unknown")] * 3
    assert all("names no rater" in (r.note or "") for r in record.raters)
    for vote in record.votes:
        assert vote.confidence is None
        assert vote.cast_at is None


def test_the_screen_is_agreed_negative_in_every_category(record: ScreeningRecord) -> None:
    (screen,) = record.rounds
    assert (screen.panel, screen.works_screened, screen.instrument) == (3, 5600, "unknown")
    assert list(screen.categories) == list(SCORES)
    for category in screen.categories:
        votes = [category in vote.categories for vote in record.votes]
        assert screening_state(votes) is ScreeningState.AGREED_NEGATIVE


def test_nothing_is_invented(record: ScreeningRecord) -> None:
    (screen,) = record.rounds
    assert screen.rubric_sha256 is None
    assert screen.frame_size is None
    (release,) = record.releases
    assert release.version is None
    assert {h.availability for h in release.heads} == {"unknown"}


def test_the_publishers_statement_is_kept_word_for_word(record: ScreeningRecord) -> None:
    statement = next(s for s in record.statements if s.id == "metacan-tias-full-frame")
    assert statement.text == FULL_FRAME
    assert statement.wording == "verbatim"
    assert statement.status == "machine_predicted_unvalidated"
    assert statement.publisher == "MétaCan"


def test_every_statement_carries_a_status_of_the_page(record: ScreeningRecord) -> None:
    assert {s.text for s in record.statements if s.wording == "verbatim"} == {
        FULL_FRAME,
        "machine, unvalidated",
    }
    assert {s.status for s in record.statements} == {
        "machine_predicted_unvalidated",
        "score_only:v0-immature-baseline",
    }


def test_the_release_ships_its_status_and_maturity(record: ScreeningRecord) -> None:
    (release,) = record.releases
    assert release.status == "score_only:v0-immature-baseline"
    assert (release.maturity, release.training_rounds, release.decimals) == ("not_passed", 7, 3)
    assert not release.calibrated
    assert [h.name for h in release.heads] == ["Codex", "Gemma"]
    assert all(list(h.categories) == list(SCORES) for h in release.heads)


@pytest.mark.parametrize(
    "words",
    [
        "Imitation only",
        "Not calibrated prevalence, and not ground truth",
        "Human validation is pending",
        "Gemma side is a direct model label",
        "Codex side is a classifier learned from 10,348 direct Codex labels, and calibrated to "
        "design-weighted sample rates",
        "a candidate where at least one side calls it (the union of the two sides)",
        "consensus is where both do (their intersection)",
        "without enough sample support makes no call",
        "ranks works and never asserts",
        "No label is not a negative",
        "no stratum and no weight",
    ],
)
def test_caveats_stand_on_record_and_package(record: ScreeningRecord, package: Manifest, words: str) -> None:
    assert any(words in caveat for caveat in record.caveats)
    assert any(words in caveat for caveat in package.caveats)


def test_the_abstract_is_left_out_and_says_why(package: Manifest) -> None:
    assert package.work.abstract.text is None
    assert "belongs to its publisher" in (package.work.abstract.note or "")


@pytest.mark.parametrize("name", ["manifest.json", "README.md", "screening.json"])
def test_no_sentence_came_along_unmarked(tias: Path, name: str) -> None:
    text = " ".join((tias / name).read_text(encoding="utf-8").split()).lower()
    assert [words for words in THEIR_WORDS if words.lower() in text] == []


def test_the_project_data_are_credited(tias: Path, package: Manifest) -> None:
    assert package.licence == "CC-BY-4.0"
    credit = "MétaCan, Ahmad Sofi-Mahmudi, 2026"
    assert any(credit in creator for creator in package.creators)
    assert credit in (tias / "README.md").read_text(encoding="utf-8").replace("\n", " ")
