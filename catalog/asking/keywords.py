"""A rule that answers like a model, so that a study can be tried without one: `proofshelf-keywords`.

It chooses a category where one of its words stands in what is shown, and nothing else. It is no language
model and judges nothing; a study that uses it to try things out says `synthetic = true`. It leaves every
field of a rubric empty, or at its first value where one is always asked for.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import llm
from pydantic import field_validator

MODEL_ID = "proofshelf-keywords"
_FENCE = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)


class Keywords(llm.Model):
    """The rule. Its option `words` is a JSON object: category to list of words; a category that isn't
    there has the words of its own name."""

    model_id = MODEL_ID
    supports_schema = True

    class Options(llm.Options):
        """What may be given with `--option`."""

        words: str = "{}"

        @field_validator("words")
        @classmethod
        def _is_an_object_of_lists(cls, value: str) -> str:
            try:
                given = json.loads(value)
            except ValueError:
                given = None
            if not isinstance(given, dict) or not all(
                isinstance(words, list) and all(isinstance(word, str) for word in words)
                for words in given.values()
            ):
                raise ValueError('expected a JSON object such as {"include": ["trial"]}')
            return value

    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,
        response: llm.Response,
        conversation: llm.Conversation | None,
    ) -> Iterator[str]:
        """Answer for every work between the fences."""
        text, options = prompt.prompt or "", prompt.options
        words = json.loads(options.words) if isinstance(options, self.Options) else {}
        answers = self.answers(text, prompt.schema, words)
        said = json.dumps({"answers": answers}, ensure_ascii=False)
        # Characters stand in for tokens: the rule has none of its own.
        response.set_usage(input=len(prompt.system or "") + len(text), output=len(said))
        response.set_resolved_model(f"{MODEL_ID}-1")
        yield said

    def answers(self, text: str, schema: Any, words: dict[str, list[str]]) -> list[dict[str, Any]]:
        """One answer for each work of a question. Raises ModelError for a text without works or schema."""
        found = _FENCE.search(text)
        if found is None or schema is None:
            raise llm.ModelError("expected works between two fences, and a JSON Schema")
        asked = schema["properties"]["answers"]["items"]["properties"]
        return [_answer(json.loads(line), asked, words) for line in found[2].split("\n")]


def _answer(work: dict[str, Any], asked: dict[str, Any], words: dict[str, list[str]]) -> dict[str, Any]:
    shown = f"{work['title']} {work.get('abstract') or ''}".lower()
    hits = {
        category: [word for word in words.get(category, re.split("[-_.]", category)) if word.lower() in shown]
        for category in asked["categories"]["items"]["enum"]
    }
    categories = [category for category, found in hits.items() if found]
    answer: dict[str, Any] = {
        "id": work["id"],
        "decision": "in_scope" if categories else "out_of_scope",
        "categories": categories,
    }
    for name, form in asked.items():
        if name not in ("id", "decision", "categories", "confidence", "reason"):
            answer[name] = form["enum"][0] if form["type"] == "string" else []
    if "confidence" in asked:
        answer["confidence"] = "low"
    seen = [word for found in hits.values() for word in found]
    answer["reason"] = f"Rule: {', '.join(seen) if seen else 'none of the words'}"[
        : asked["reason"]["maxLength"]
    ]
    return answer


@llm.hookimpl
def register_models(register: Any) -> None:
    """Called by `llm`, which finds this module by its entry point."""
    register(Keywords())
