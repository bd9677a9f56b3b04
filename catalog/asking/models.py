"""Models through the `llm` library: any provider's or local one, by its plugins.

`llm` is an optional part (the extra `models`), imported only here.
"""

import json
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from catalog.asking.prompts import Question
from catalog.clock import now
from catalog.errors import CatalogError
from schema.screening import Rater

if TYPE_CHECKING:
    import llm

# What a server says with these may pass; every other 4xx would be said again.
_PASSING = (408, 409, 425, 429)


@dataclass(frozen=True)
class Reply:
    """What came back: the text as it came, who says that it answered, and what it used (None: not said)."""

    raw: str
    resolved_model: str | None
    input_tokens: int | None
    output_tokens: int | None
    started_at: str
    finished_at: str


class AskingFailed(Exception):
    """No answer came, by no fault of its content. `passing`: asking again may help; `wait`: the seconds
    that the provider asks for, if it does."""

    def __init__(self, sentence: str, started_at: str, passing: bool, wait: float | None = None) -> None:
        super().__init__(sentence)
        self.started_at = started_at
        self.passing = passing
        self.wait = wait


class Asker:
    """One model with its options, ready to be asked. Raises CatalogError where it can't be."""

    def __init__(self, rater: Rater, options: Mapping[str, str], key: str | None, seconds: float) -> None:
        self.model = _find(rater)
        self.seconds = seconds
        self.options = _options(self.model, options)
        self._key = _key(self.model, key)

    @property
    def by_schema(self) -> bool:
        """Whether the provider holds the model to a JSON Schema."""
        return bool(self.model.supports_schema)

    def version(self, reply: Reply | None) -> str:
        """The model that answered, its options, and the library: what it takes to ask it again."""
        name = (reply and reply.resolved_model) or self.model.model_id
        given = "".join(f" {k}={json.dumps(v, ensure_ascii=False)}" for k, v in sorted(self.options.items()))
        return f"{name}{given} (llm {_llm_version()})"

    def ask(self, asked: Question) -> Reply:
        """Ask once. Raises AskingFailed where no answer comes, in `seconds` at the latest.

        The call runs in a thread that nobody waits for, so that Ctrl-C and the limit of time act at once.
        """
        box: queue.Queue[Reply | BaseException] = queue.Queue()
        started = now()

        def call() -> None:
            try:
                box.put(self._call(asked, started))
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is told by the caller
                box.put(error)

        threading.Thread(target=call, daemon=True, name="asking").start()
        try:
            came = box.get(timeout=self.seconds)
        except queue.Empty:
            raise AskingFailed(f"no answer came within {self.seconds:g} s", started, passing=True) from None
        if isinstance(came, Reply):
            return came
        raise _failed(came, started, self._key) from came

    def _call(self, asked: Question, started: str) -> Reply:
        more: dict[str, Any] = {"key": self._key} if self._key else {}
        response = self.model.prompt(
            asked.prompt,
            system=asked.system,
            schema=asked.schema if self.by_schema else None,
            stream=False,
            options=dict(self.options),
            **more,
        )
        raw = response.text()
        usage = response.usage()
        return Reply(raw, response.resolved_model, usage.input, usage.output, started, now())


def _find(rater: Rater) -> "llm.Model":
    if rater.kind != "model":
        raise CatalogError(
            f"rater {rater.id!r} is a person; `proofshelf screen queue` is where people screen"
        )
    if rater.model is None:
        raise CatalogError(
            f"rater {rater.id!r}: the study doesn't say which model it is; give it `model`, an id that "
            "`llm models` lists"
        )
    llm = _library()
    try:
        model = llm.get_model(rater.model)
    except llm.UnknownModelError as error:
        close = get_close_matches(rater.model, [m.model_id for m in llm.get_models()], n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`llm models` lists those that are"
        raise CatalogError(
            f"rater {rater.id!r}: no model {rater.model!r} is installed; {hint} "
            "(`llm install PLUGIN` brings others)"
        ) from error
    return model  # type: ignore[no-any-return]


def _library() -> Any:
    try:
        import llm
    except ImportError as error:
        raise CatalogError(
            "asking models needs the `llm` library, which isn't installed: pip install 'proofshelf[models]'"
        ) from error
    return llm


def _llm_version() -> str:
    from importlib import metadata

    return metadata.version("llm")


def _options(model: "llm.Model", given: Mapping[str, str]) -> dict[str, Any]:
    """The options in the model's own types. Raises CatalogError for one that it doesn't have."""
    try:
        checked = model.Options(**given)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        known = ", ".join(model.Options.model_fields) or "none"
        said = fault["msg"].removeprefix("Value error, ")
        said = "no such option" if fault["type"] == "extra_forbidden" else said[:1].lower() + said[1:]
        raise CatalogError(f"option {name!r} of {model.model_id}: {said}; it has {known}") from error
    return {name: getattr(checked, name) for name in given}


def _key(model: "llm.Model", name: str | None) -> str | None:
    """The key of that name among those that `llm` keeps; without a name, the one that it would take."""
    llm = _library()
    if name is not None and name not in llm.load_keys():
        raise CatalogError(f"there is no key {name!r}; `llm keys set {name}` stores one")
    try:
        return model.get_key(name)
    except llm.NeedsKeyException as error:
        variable = f", or set ${model.key_env_var}" if model.key_env_var else ""
        raise CatalogError(
            f"{model.model_id} needs a key: `llm keys set {model.needs_key}`{variable}"
        ) from error


def _failed(error: BaseException, started: str, key: str | None) -> AskingFailed:
    text = " ".join(str(error).split()) or "no reason given"
    if key:
        text = text.replace(key, "[key]")  # what is told is stored
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    passing = not (isinstance(status, int) and 400 <= status < 500 and status not in _PASSING)
    return AskingFailed(f"{type(error).__name__}: {text}", started, passing, _retry_after(response))


def _retry_after(response: object) -> float | None:
    """The seconds of a Retry-After header (RFC 9110, 10.2.3), if it gives seconds."""
    value = getattr(response, "headers", {}).get("retry-after")
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None
