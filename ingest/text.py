"""Plain Unicode text from TeX, HTML and JATS, for titles, names and abstracts.

Every function is linear in its input and never raises on any string; the raw record is kept by the
reader, so what is simplified here is never lost.
"""

import html
import re
import unicodedata
from functools import cache

from pylatexenc.latex2text import get_default_latex_context_db  # type: ignore[import-untyped]

_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]+)\*?[ \t\n]*|\\(?P<symbol>[^A-Za-z]|$)|(?P<ligature>---|--|``|''|~|\$\$?|[{}^_])"
    r"|(?P<plain>[^\\{}$~`'^_-]+|[`'-])",
    re.S,
)
_TEX = re.compile(r"[\\{}$~]|--|``|''")
# TeX accent -> combining character (TeXbook, chapter 9).
_ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "k": "\u0328",
    "d": "\u0323",
    "b": "\u0331",
    "r": "\u030a",
}
_WORDS = {
    "TeX": "TeX",
    "LaTeX": "LaTeX",
    "BibTeX": "BibTeX",
    "i": "\u0131",
    "j": "\u0237",
    "newline": " ",
    "par": " ",
    "quad": " ",
    "qquad": " ",
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "slash": "/",
    "lbrace": "{",
    "rbrace": "}",
    "relax": "",
    "protect": "",
}
_FUNCTIONS = frozenset(
    {
        "log",
        "ln",
        "exp",
        "sin",
        "cos",
        "tan",
        "max",
        "min",
        "arg",
        "argmax",
        "argmin",
        "sup",
        "inf",
        "lim",
        "mod",
    }
)
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_VERBATIM = re.compile(
    r"\\(?:url|path|nolinkurl)\s*\{([^{}]*)\}|\b(?:https?|ftp)://[^\s{}\\]*(?:\\[_%&#~][^\s{}\\]*)*"
)
_HREF = re.compile(r"\\href\s*\{[^{}]*\}\s*")
_MATH = re.compile(r"(?<!\\)\$(?=\S)([^$\n]*?\S)(?<!\\)\$(?![0-9])|(?<!\\)\$([^$\s])\$")
_VERB = "\ufdd0"  # a noncharacter, which no text may hold

# Elements of HTML, JATS and MathML that occur in titles and abstracts; "a<b and c>d" is left alone.
_BLOCK = "p|br|div|sec|title|list|list-item|ul|ol|li|h[1-6]|abstract|label|tr|td|disp-formula"
_INLINE = (
    "i|b|em|strong|u|tt|code|small|big|span|a|sc|scp|s|strike|italic|bold|monospace|roman|sans-serif|underline"
    "|xref|ext-link|named-content|styled-content|inline-formula|alternatives|tex-math|uri|email|font|q"
    "|math|mi|mn|mo|mrow|mtext|mspace|mfenced|mstyle|semantics|annotation|msub|msup|msubsup|mfrac|msqrt"
    "|mover|munder|munderover|mtable|mtr|mtd|ovid:[a-z]+"
)
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))*\s*/?"
_BLOCK_TAG = re.compile(rf"</?(?:jats:|mml:)?(?:{_BLOCK}){_ATTRIBUTES}>", re.I)
_INLINE_TAG = re.compile(rf"</?(?:jats:|mml:)?(?:{_INLINE}){_ATTRIBUTES}>", re.I)
_SUP_TAG = re.compile(rf"(?<=\w)<(?:jats:)?sup{_ATTRIBUTES}>(?=\s*[+\u2212-]?[0-9])", re.I)
_SUBSUP_TAG = re.compile(rf"</?(?:jats:)?su[bp]{_ATTRIBUTES}>", re.I)
_HEADING = re.compile(r"<(?:jats:)?title>\s*(?:abstract|summary)\s*[.:]?\s*</(?:jats:)?title>", re.I)
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.S)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_BLANK = re.compile(r"\s+")
# Invisible characters that only disturb searching; the joiners U+200C and U+200D carry meaning.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")


def clean(text: str) -> str:
    """NFC, one blank for any run of white space, no control, invisible or half characters."""
    kept = _INVISIBLE.sub("", text)
    if not kept.isprintable():
        kept = "".join(c if c.isprintable() else _replacement(c) for c in kept)
    return _BLANK.sub(" ", unicodedata.normalize("NFC", kept)).strip()


def whole(text: str) -> str:
    """The same text with half characters (lone surrogates, which no file can hold) made visible."""
    return text if text.isascii() else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def from_html(text: str) -> str:
    """Text of a fragment of HTML, JATS or MathML; entities are resolved, also those encoded twice."""
    for _ in range(3):
        before = text
        if "<" in text:
            text = _HEADING.sub(" ", _COMMENT.sub("", text))
            text = _SUBSUP_TAG.sub("", _SUP_TAG.sub("^", text))
            text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
        if "&" in text:
            text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
        if text == before:
            break
    return clean(text)


def from_tex(text: str) -> str:
    """Text of a fragment of TeX as bibliographies use it: accents, symbols, markup, simple math.

    An unknown macro vanishes and leaves its argument. `%` and `&` are kept, since BibTeX reads them
    as characters. A `~` is a blank except inside an address.
    """
    return from_html(_tex(text) if _TEX.search(text) else text)


def verbatim(text: str) -> str:
    r"""A TeX fragment read as an address or identifier: `\_`, `{\_}`, `$<$` and `\url{}` undone, `~` kept."""
    text = re.sub(r"\\(?:url|path|nolinkurl|texttt|href)\b", "", text)
    text = text.replace("\\textless", "<").replace("\\textgreater", ">").replace("\\textasciitilde", "~")
    text = re.sub(r"\$\s*([<>_~]|\\sim)\s*\$", lambda m: "~" if m[1] == "\\sim" else m[1], text)
    return clean(re.sub(r"\\([_%&#~$])", r"\1", text).replace("{", "").replace("}", ""))


def _tex(text: str) -> str:
    kept: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        kept.append(verbatim(match[0]))
        return f"{_VERB}{len(kept) - 1}{_VERB}"

    text = text.replace(_VERB, "")
    if "http" in text or "ftp" in text or "\\" in text:
        text = _VERBATIM.sub(set_aside, _HREF.sub("", text))
    math = [m.span() for m in _MATH.finditer(text)] if "$" in text else []
    dollars = {position for start, end in math for position in (start, end - 1)}
    out = _scan(text, dollars)
    if kept:
        out = re.sub(f"{_VERB}([0-9]+){_VERB}", lambda m: kept[int(m[1])], out)
    return out


def _scan(text: str, math: set[int]) -> str:
    """One pass over the tokens; `math` holds the positions of the dollars that delimit formulas."""
    out: list[str] = []
    accents: list[str] = []  # waiting for the character that they stand on
    opened = False  # a brace was opened since the accent
    in_math = superscript = False

    def emit(piece: str) -> None:
        nonlocal accents, superscript
        if not piece:
            return
        if superscript:
            if piece[0] in "0123456789+-\u2212" and out and out[-1][-1:].isalnum():
                out.append("^")
            superscript = False
        if accents:
            blanks = len(piece) - len(piece.lstrip())
            base = piece[blanks : blanks + 1]
            if base:
                marks = "".join(_ACCENTS[a] for a in reversed(accents))
                piece = unicodedata.normalize("NFC", _DOTLESS.get(base, base) + marks) + piece[blanks + 1 :]
                accents = []
            else:
                return
        out.append(piece)

    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "word":
            name = match["word"]
            if name in _ACCENTS:
                accents.append(name)
                opened = False
            elif name == "textsuperscript":
                superscript = True
            elif name in _FUNCTIONS:
                emit(name + " " if token[-1:].isspace() else name)
            else:
                emit(_macro(name))
        elif kind == "symbol":
            symbol = match["symbol"]
            if symbol in _ACCENTS and symbol:
                accents.append(symbol)
                opened = False
            elif symbol in ("\\", "\n", " ", ",", ";", ":", "~"):
                emit(" ")
            elif symbol not in ("/", "-", "!", "(", ")", "[", "]"):
                emit(symbol)
        elif kind == "plain":
            emit(token)
        elif token == "{":
            opened = True
        elif token == "}":
            if accents and opened:  # \^{} is the bare accent
                bare, accents = accents[-1], []
                emit(bare if bare in "^~'`\"=." else "")
            superscript = False
        elif token in ("$", "$$"):
            if match.start() in math:
                in_math = not in_math
            else:
                emit(token)
        elif token == "^":
            if in_math:
                superscript = True
            emit("" if in_math else "^")
        elif token == "_":
            emit("" if in_math else "_")
        else:
            emit({"---": "\u2014", "--": "\u2013", "``": "\u201c", "''": "\u201d", "~": " "}[token])
    return "".join(out)


@cache
def _macro(name: str) -> str:
    """What a control word prints by itself: a symbol, or nothing for markup and unknown macros."""
    if name in _WORDS:
        return _WORDS[name]
    spec = _symbols().get_macro_spec(name)
    printed = getattr(spec, "simplify_repl", None)
    return printed if isinstance(printed, str) and "%" not in printed and not printed.startswith("<") else ""


@cache
def _symbols():  # type: ignore[no-untyped-def]
    return get_default_latex_context_db()


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cc":
        return " " if character in "\t\n\r\v\f\x85" else ""
    return "\ufffd" if category == "Cs" else character
