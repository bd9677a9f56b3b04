"""A model as a few arrays and a JSON text: what processes are sent, and what a release stores."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifiers.calibrators import calibrator_from_json
from classifiers.errors import ClassifierError
from classifiers.features import Features
from classifiers.features.terms import split_keys
from classifiers.student.crossfit import LinearHeads
from classifiers.student.model import Model
from classifiers.student.parameters import HeadName
from schema.base import canonical_json

Form = tuple[str, tuple[str, ...]]
MODEL_ARRAYS: dict[str, Form] = {
    "tokens": ("|u1", ("bytes",)),
    "token_ends": ("<i8", ("tokens",)),
    "keys": ("<i8", ("terms",)),
    "idf": ("<f8", ("terms",)),
    "coef": ("<f8", ("terms", "heads")),
    "intercept": ("<f8", ("heads",)),
}
"""The type and the axes of each array. Tokens are UTF-8 one after another, cut at `token_ends`."""


@dataclass(frozen=True, eq=False)
class Packed:
    """arrays as in MODEL_ARRAYS, C order; text : canonical JSON of the rest, as bytes in an array.

    Two are equal whose key is: the SHA-256 of all of it.
    """

    arrays: Mapping[str, NDArray[Any]]
    text: NDArray[np.uint8]
    key: str

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and other.key == self.key


def array_sha256(array: NDArray[Any]) -> str:
    """The hash of an array's bytes with its type and shape, so that none can be read as another."""
    head = canonical_json({"dtype": array.dtype.str, "shape": list(array.shape)})
    whole = hashlib.sha256(head + b"\n")
    whole.update(np.ascontiguousarray(array).data)
    return whole.hexdigest()


def pack(model: Model) -> Packed:
    """Nothing is lost: `unpack` gives a model that scores to the same bytes."""
    features, linear = model.linear.features, model.linear
    tokens, token_ends = pack_texts(features.tokens_)
    parts: dict[str, NDArray[Any]] = {
        "tokens": tokens,
        "token_ends": token_ends,
        "keys": features.keys_,
        "idf": features.idf_,
        "coef": linear.coef,
        "intercept": linear.intercept,
    }
    arrays = {name: np.ascontiguousarray(parts[name], form[0]) for name, form in MODEL_ARRAYS.items()}
    text = np.frombuffer(canonical_json(describe(model)), np.uint8)
    hashes = {name: array_sha256(array) for name, array in arrays.items()}
    key = hashlib.sha256(canonical_json(hashes) + text.tobytes()).hexdigest()
    return Packed(arrays, text, key)


def describe(model: Model) -> dict[str, Any]:
    """What of a model isn't an array, as plain JSON."""
    features = model.linear.features
    return {
        "features": {"use": list(features.use), "min_df": features.min_df, "documents": features.documents_},
        "heads": [list(head) for head in model.heads],
        "calibrators": [None if c is None else c.to_json() for c in model.calibrators],
    }


@lru_cache(maxsize=1)  # a process that scores many batches builds the model once
def unpack(packed: Packed) -> Model:
    """The model again. Raises ClassifierError as `assemble` does."""
    return assemble(packed.arrays, json.loads(packed.text.tobytes()))


def assemble(arrays: Mapping[str, NDArray[Any]], described: Mapping[str, Any]) -> Model:
    """A model from arrays and what `describe` gave.

    Raises ClassifierError for arrays that don't fit together or hold what no training gives, and for
    calibrators that can't be restored.
    """
    heads = tuple(HeadName(*head) for head in described["heads"])
    check_arrays(arrays, MODEL_ARRAYS, {"heads": len(heads)})
    if len(described["calibrators"]) != len(heads):
        raise ClassifierError(
            f"there are {len(described['calibrators'])} calibrators;"
            f" expected one or null for each of {len(heads)} heads"
        )
    for name in ("idf", "coef", "intercept"):
        if not np.isfinite(arrays[name]).all():
            raise ClassifierError(f"the array {name!r} holds a number that isn't finite")
    of = described["features"]
    features = Features(of["use"], of["min_df"])
    tokens = unpack_texts("tokens", arrays["tokens"], arrays["token_ends"])
    features.restore(tokens, _keys(arrays["keys"], len(tokens)), arrays["idf"], of["documents"])
    return Model(
        heads,
        LinearHeads(features, arrays["coef"], arrays["intercept"]),
        tuple(None if c is None else calibrator_from_json(c) for c in described["calibrators"]),
    )


def check_arrays(
    arrays: Mapping[str, NDArray[Any]], forms: Mapping[str, Form], sizes: Mapping[str, int]
) -> None:
    """Refuse arrays that are missing, or of another type or shape.

    An axis of a name has one length in all of them: that in `sizes`, or else the first met.
    """
    met = dict(sizes)
    for name, (dtype, axes) in forms.items():
        if name not in arrays:
            raise ClassifierError(f"the array {name!r} is missing")
        array = arrays[name]
        if array.dtype.str != dtype:
            raise ClassifierError(f"the array {name!r} has the type {array.dtype.str}; expected {dtype}")
        if array.ndim == len(axes):
            expected = tuple(met.setdefault(a, n) for a, n in zip(axes, array.shape, strict=True))
        if array.ndim != len(axes) or array.shape != expected:
            raise ClassifierError(
                f"the array {name!r} has the shape {array.shape}; expected ({', '.join(axes)})"
                f" with {', '.join(f'{a} = {met[a]}' for a in axes if a in met) or 'any lengths'}"
            )


def pack_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts as UTF-8 one after another, and where each ends (n,)."""
    encoded = [text.encode("utf-8") for text in texts]
    ends = np.cumsum([len(part) for part in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def unpack_texts(name: str, whole: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[str, ...]:
    """The texts again. Raises ClassifierError, with the array's name, unless they are UTF-8 and sorted,
    each once."""
    data, cuts = whole.tobytes(), [0, *ends.tolist()]
    if cuts[-1] != len(data) or any(a > b for a, b in pairwise(cuts)):
        raise ClassifierError(f"the array {name!r} isn't cut into texts from its start to its end")
    try:
        texts = tuple(data[a:b].decode("utf-8") for a, b in pairwise(cuts))
    except UnicodeDecodeError:
        raise ClassifierError(f"the array {name!r} isn't UTF-8") from None
    if any(a >= b for a, b in pairwise(texts)):
        raise ClassifierError(f"the array {name!r} isn't sorted, each text once")
    return texts


def _keys(keys: NDArray[np.int64], tokens: int) -> NDArray[np.int64]:
    first, second = split_keys(keys, tokens)
    if len(keys) and (first.min() < 0 or first.max() >= tokens or second.max() >= tokens):
        raise ClassifierError("the array 'keys' names a token that isn't there")
    if len(np.unique(keys)) != len(keys):
        raise ClassifierError("the array 'keys' names a term twice")
    return keys
