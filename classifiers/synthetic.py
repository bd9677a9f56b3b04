"""A made-up screening study whose truth is known: to try things out, and to test what claims to estimate.

Every number comes from SHA-256 of seed, record and purpose, so the same seed gives the same bytes on
every machine and with every library version, and a longer study begins with the shorter one. Nothing
here resembles real papers, and everything made of it says that it is synthetic.
"""

import hashlib
import math
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from classifiers.errors import ClassifierError
from schema.rubric import Category, Rubric
from schema.screening import Rater
from schema.study import RoundPlan, SamplingDesign, Stratum, Study
from schema.work import Abstract, Author, Identifier, Work

CANNOT = "insufficient_payload"


@dataclass(frozen=True)
class Topic:
    """One category: how common it is, how strongly its words speak of it, and its words."""

    id: str
    label: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class SyntheticRater:
    """A rule in a rater's place, with known errors: P(positive | true) and P(negative | false)."""

    id: str
    name: str
    sensitivity: float
    specificity: float


TOPICS = (
    Topic("replication", "Replication", 0.12, ("replication", "reanalysis", "reproduced", "preregistered")),
    Topic("peer_review", "Peer review", 0.07, ("referee", "editorial", "manuscripts", "reviewers")),
    Topic("data_sharing", "Data sharing", 0.01, ("repository", "deposited", "openly", "metadata")),
)
RATERS = (
    SyntheticRater("rule-a", "Made-up rater A", 0.92, 0.985),
    SyntheticRater("rule-b", "Made-up rater B", 0.85, 0.99),
)
VENUES = tuple(f"Invented Journal {number}" for number in range(1, 41))
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "xo", "zu")
VOCABULARY = tuple(a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", "n", "r", "s"))
_ZIPF = tuple(accumulate(1 / (rank + 2.7) for rank in range(len(VOCABULARY))))


@dataclass(frozen=True)
class SyntheticRecord:
    """A record with its truth: for each topic the probability that it was drawn with, and the outcome."""

    work: Work
    probability: Mapping[str, float]
    truth: Mapping[str, bool]


def records(seed: int, count: int) -> tuple[SyntheticRecord, ...]:
    """`count` records: one in eight French, one in ten without abstract, one in twenty without venue."""
    if count < 1:
        raise ClassifierError(f"{count} records were asked for; expected at least 1")
    return tuple(_record(seed, number) for number in range(1, count + 1))


def answers(seed: int, rater: SyntheticRater, record: SyntheticRecord) -> dict[str, object]:
    """What a rater says of a record, as the answer to a chunk has it.

    Without an abstract, one in three can't be judged: that is unknown, and neither true nor false.
    """
    work = record.work
    assert work.id is not None
    dice = _Dice(seed, f"{rater.id}/{work.id}")
    base: dict[str, object] = {"id": work.id, "confidence": "medium"}
    if work.abstract.text is None and dice.uniform("cannot") < 1 / 3:
        return base | {"decision": "insufficient_payload", "categories": [], "confidence": "low"}
    named = [
        topic
        for topic, true in record.truth.items()
        if dice.uniform(topic) < (rater.sensitivity if true else 1 - rater.specificity)
    ]
    return base | {"decision": "in_scope" if named else "out_of_scope", "categories": named}


def study(seed: int, french: int, other: int) -> Study:
    """The study's record: a stratified sample (French works, all others), both made-up raters, one round."""
    rubric = Rubric(
        id="synthetic-topics", version="1", title="Three made-up topics",
        categories=(
            *(Category(id=t.id, label=t.label) for t in TOPICS),
            Category(id=CANNOT, label="Can't be screened", stands_alone=True, cannot_be_screened=True),
        ),
        reason="optional",
        instructions="Name each topic that the work speaks of.",
    )  # fmt: skip
    return Study(
        id="synthetic", title="A synthetic screening study", synthetic=True, rubric=rubric,
        frame={"field": "title", "contains": "(synthetic "},
        description="Made up from a seed, with known truth: no real paper and no real judgement is in it.",
        raters=tuple(
            Rater(
                id=r.id, kind="model", name=r.name, version=f"synthetic rule, seed {seed}",
                note=f"no language model and no person: a rule with sensitivity {r.sensitivity} and "
                f"specificity {r.specificity}",
            )
            for r in RATERS
        ),
        samples=(
            SamplingDesign(
                id="synthetic-sample", salt=f"synthetic-{seed}",
                strata=(
                    Stratum(id="french", where={"field": "language", "equals": "fr"}, draw=french),
                    Stratum(id="other", where={"otherwise": True}, draw=other),
                ),
            ),
        ),
        rounds=(
            RoundPlan(
                id="synthetic-abstracts", title="Titles and abstracts", instrument="title+abstract",
                raters=tuple(r.id for r in RATERS), sample="synthetic-sample", chunk_size=50, seed=seed,
            ),
        ),
        licence="CC0-1.0", source=f"made by proofshelf from seed {seed}",
        caveats=("Synthetic: every work, vote, score and call of this study is made up.",),
    )  # fmt: skip


class _Dice:
    """Uniform numbers in [0, 1), each named; the same name gives the same number."""

    def __init__(self, seed: int, subject: str) -> None:
        self._prefix = f"{seed}/{subject}/"

    def uniform(self, name: str) -> float:
        digest = hashlib.sha256((self._prefix + name).encode()).digest()
        return int.from_bytes(digest[:7], "big") / 2**56

    def normal(self, name: str) -> float:
        radius = math.sqrt(-2 * math.log1p(-self.uniform(f"{name}/r")))
        return radius * math.cos(2 * math.pi * self.uniform(f"{name}/phi"))


def _record(seed: int, number: int) -> SyntheticRecord:
    slug = f"synthetic-{number:05d}"
    dice = _Dice(seed, slug)
    strength = {t.id: dice.normal(t.id) for t in TOPICS}
    probability = {t.id: 1 / (1 + math.exp(-_offset(t.share) - 2 * strength[t.id])) for t in TOPICS}
    truth = {t.id: dice.uniform(f"{t.id}/truth") < probability[t.id] for t in TOPICS}
    lengths = 7 + int(5 * dice.uniform("title")), 50 + int(60 * dice.uniform("abstract"))
    title, abstract = (
        _text(dice, part, length, strength) for part, length in zip(("t", "a"), lengths, strict=True)
    )
    has_abstract = dice.uniform("has abstract") >= 0.1
    venue = None if dice.uniform("no venue") < 0.05 else VENUES[int(len(VENUES) * dice.uniform("venue") ** 2)]
    work = Work(
        id=slug,
        title=f"{title.capitalize()} (synthetic {number})",
        authors=(Author(name=f"Nobody {1 + int(500 * dice.uniform('author'))}"),),
        year=2000 + int(26 * dice.uniform("year")),
        venue=venue,
        type="article",
        language="fr" if dice.uniform("language") < 0.125 else "en",
        abstract=Abstract(
            text=f"{abstract.capitalize()}." if has_abstract else None,
            source="synthetic" if has_abstract else None,
            note=None if has_abstract else "synthetic: left out on purpose",
        ),
        identifiers=(Identifier(scheme="other", value=f"synthetic:{seed}:{number}"),),
        note="synthetic",
    )
    return SyntheticRecord(work, probability, truth)


def _text(dice: _Dice, part: str, length: int, strength: Mapping[str, float]) -> str:
    """Words of a topic come the more often, the stronger it is; a title says more of it than an abstract."""
    chance = {
        t.id: min(0.2, (0.03 if part == "t" else 0.012) * math.exp(1.1 * strength[t.id])) for t in TOPICS
    }
    words = []
    for position in range(length):
        drawn, left = dice.uniform(f"{part}{position}"), 0.0
        for topic in TOPICS:
            if left <= drawn < left + chance[topic.id]:
                share = (drawn - left) / chance[topic.id]
                words.append(topic.words[int(share * len(topic.words))])
                break
            left += chance[topic.id]
        else:
            rank = bisect(_ZIPF, dice.uniform(f"{part}{position}/word") * _ZIPF[-1])
            words.append(VOCABULARY[rank])
    return " ".join(words)


@cache
def _offset(share: float) -> float:
    """The intercept at which sigmoid(offset + 2 z), z standard normal, has this mean: by bisection."""
    grid = [(i - 400) / 50 for i in range(801)]
    mass = [math.exp(-z * z / 2) for z in grid]
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = sum(m / (1 + math.exp(-middle - 2 * z)) for m, z in zip(mass, grid, strict=True)) / sum(mass)
        low, high = (middle, high) if mean < share else (low, middle)
    return low
