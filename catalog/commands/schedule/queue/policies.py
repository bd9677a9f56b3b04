"""Policies as a command line names them: NAME, or NAME:option=value:option=value."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.commands.errors import Refused
from catalog.commands.schedule.queue.asked import samples_of

if TYPE_CHECKING:
    from scheduling_core.queueing.policies import Policy

EXPECTED = {
    "int": "a whole number", "bool": "true or false", "float": "a number",
    "Sequence[int]": "whole numbers with commas between, as 325,720",
}  # fmt: skip
"""By the annotation of an option; any other takes what it is given, and the policy judges it."""
RECONSTRUCTION = "a reconstruction"


@dataclass(frozen=True)
class Chosen:
    """A policy with its options. label : as it was written, which tells it from the others."""

    label: str
    name: str
    options: Mapping[str, Any]
    oracle: bool
    source: str

    @property
    def reconstruction(self) -> bool:
        """Whether it stands for a policy that isn't public."""
        return self.source.startswith(RECONSTRUCTION)

    def plain_options(self) -> dict[str, Any]:
        """As a request keeps them; of services only how many there are, since their file is an input."""
        return {
            key: f"{len(value):,} services" if key == "samples" else value
            for key, value in self.options.items()
        }


def chosen(texts: Sequence[str], samples: Path | None) -> list[Chosen]:
    """Every policy that was asked for, in order, made once so that wrong options are told before a run."""
    found = {text: _chosen(text, samples) for text in texts}
    if samples is not None and not any("samples" in each.options for each in found.values()):
        raise Refused("--samples: none of the policies takes services of earlier jobs; gittins2d does")
    return list(found.values())


def _chosen(text: str, samples: Path | None) -> Chosen:
    from scheduling_core.queueing.policies import policy

    name, *pairs = text.split(":")
    kind = _class(name)
    takes = {
        key: parameter for key, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }  # fmt: skip
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if key not in takes or not equals:
            known = ", ".join(takes) or "no options"
            raise Refused(f"--policy {text}: expected {name} with {known}, each as :option=value")
        options[key] = _value(text, key, value, str(takes[key].annotation))
    if "samples" in takes and "samples" not in options:
        if samples is None:
            raise Refused(f"--policy {name} needs the services of earlier jobs, --samples FILE")
        options["samples"] = samples_of(samples)
    policy(name, **options)
    return Chosen(text, name, options, kind.oracle, kind.source)


def _class(name: str) -> "type[Policy]":
    """The class of a name; somebody else's module may fail in any way."""
    from scheduling_core.errors import SchedulingError
    from scheduling_core.queueing.policies import policy_class

    try:
        return policy_class(name)
    except SchedulingError:
        raise
    except Exception as error:
        raise Refused(f"policy {name} can't be loaded: {type(error).__name__}: {error}") from error


def _value(text: str, key: str, given: str, annotation: str) -> Any:
    """A value as its option is annotated."""
    expected = EXPECTED.get(annotation)
    if "," in given or annotation.startswith("Sequence"):
        parts = [_plain(part) for part in given.split(",") if part]
        fits = annotation == "Sequence[int]" and parts and all(type(part) is int for part in parts)
        value: Any = tuple(parts)
    else:
        value = _plain(given)
        fits = type(value).__name__ == annotation or (annotation == "float" and type(value) is int)
    if expected is not None and not fits:
        raise Refused(f"--policy {text}: {key} is {given!r}, expected {expected}")
    return value


def _plain(text: str) -> Any:
    """A whole number, a decimal, true, false, or else the text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if abs(value) < 1 << 53:  # also leaves NaN and what isn't finite as text
            return value
    return text
