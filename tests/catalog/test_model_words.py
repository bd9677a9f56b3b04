"""What is shown of a model in words: its maturity, and its calls."""

from typing import Any

import pytest

from catalog.model_figures import call_meaning, maturity_words
from schema.scores import Head, ModelRelease
from schema.states import Call, call

HEAD = Head(name="h", categories=("c",))


def release(**said: Any) -> ModelRelease:
    return ModelRelease(
        id="m",
        title="M",
        status="s",
        decimals=3,
        heads=(Head(name="h", categories=("c",)),),
        source="x",
        **said,
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        # Judged here, and the gate asks for more rounds: not known, which is neither passed nor unrecorded.
        ({"maturity": "unknown", "study": "s", "training_rounds": 1},
         "not known yet, which isn't passed, after 1 training round"),
        ({"maturity": "unknown", "study": "s"}, "not known yet, which isn't passed"),
        # Published elsewhere without a word on its gate.
        ({"maturity": "unknown"}, "not recorded"),
        ({"maturity": "not_passed", "training_rounds": 7}, "not passed after 7 training rounds"),
        ({"maturity": "passed", "study": "s", "training_rounds": 8}, "passed after 8 training rounds"),
    ],
)  # fmt: skip
def test_maturity_in_words(said: dict[str, Any], words: str) -> None:
    assert maturity_words(release(**said)) == words


def test_a_candidate_of_one_side_is_not_one_of_several() -> None:
    assert (call([True], True), call([True, False], True)) == (Call.CANDIDATE, Call.CANDIDATE)
    assert call_meaning(Call.CANDIDATE, 2) == "some sides have it among their k, not all"
    alone = "the only side has it among its k, and one side alone makes no consensus"
    assert call_meaning(Call.CANDIDATE, 1) == alone
    assert all(call_meaning(value, sides) for value in Call for sides in (0, 1, 2))
