"""What a panel's votes come to, in one sentence that says no more than the votes do."""

from collections.abc import Sequence

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NOUNS = {"model": ("model", "models"), "human": ("person", "people")}


def screen_sentence(votes: Sequence[bool | None], kinds: Sequence[str], panel: int) -> str:
    """How many raters called the work in scope (True), out of scope (False), or couldn't judge (None).

    `kinds` says of each whether it is a model or a person. "All" is said only of a whole panel.
    """
    noun = _NOUNS.get(kinds[0], ("rater", "raters")) if len(set(kinds)) == 1 else ("rater", "raters")
    cast, yes, no = len(votes), sum(v is True for v in votes), sum(v is False for v in votes)
    unable = cast - yes - no
    if cast < panel:
        sentence = f"{_word(cast)} of a panel of {_word(panel)} {'has' if cast == 1 else 'have'} voted"
        opening, raters = _capital(sentence) + ": ", noun
    else:
        opening, raters = "", noun
    verdicts = (
        (yes, "called this in scope"), (no, "called this out of scope"), (unable, "could not judge this"),
    )  # fmt: skip
    for count, said in verdicts:
        if count == cast:
            return _capital(opening + _everyone(cast, raters, whole=cast >= panel) + f" {said}.")
    of_all = f"of {_word(cast)} {raters[1]}"
    parts = []
    if yes:
        parts.append(f"{_word(yes)} {of_all} called this in scope")
    if no:
        parts.append(f"{_word(no)} out of scope" if yes else f"{_word(no)} {of_all} called this out of scope")
    if unable:
        parts.append(f"{_word(unable)} could not judge it")
    return _capital(opening + ", ".join(parts) + ".")


def _everyone(count: int, noun: tuple[str, str], whole: bool) -> str:
    if count == 1:
        return f"one {noun[0]}"
    if not whole:
        return f"{_word(count)} {noun[1]}"
    return f"both {noun[1]}" if count == 2 else f"all {_word(count)} {noun[1]}"


def _word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
