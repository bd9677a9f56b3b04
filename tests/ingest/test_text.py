"""Plain text from TeX, HTML and JATS."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.text import clean, from_html, from_tex, verbatim, whole


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"{\'E}tude", "Étude"),
        (r"\'Etude", "Étude"),
        (r"\'{E}tude", "Étude"),
        (r"{\'{\i}}\'\i na{\"\i}ve", "íínaïve"),
        (r"{\"o}sterreich \c{c}a \v{S}koda \H{o} \r{a} \k{a}", "österreich ça Škoda ő å ą"),
        (r"\ss{} {\o}re {\L}ukasz \AA ngstr\"om \ae", "ß øre Łukasz Ångström æ"),
        (r"\emph{Gavel}: {\bf Het} \textbf{a {B} c} \LaTeX\ x", "Gavel: Het a B c LaTeX x"),
        (r"\unknown{kept} and \foo gone", "kept and gone"),
        (r"100\% of R\&D, 50% kept & so on", "100% of R&D, 50% kept & so on"),  # BibTeX has no % comment
        ("1--2 --- ``q'' it's a~b", "1–2 — “q” it's a b"),
        (r"$O(n^2)$ in CO$_2$ by $\alpha$", "O(n^2) in CO2 by α"),
        (r"from $5 to $10 and \$3", "from $5 to $10 and $3"),  # prices, not a formula
        (r"10\textsuperscript{3} and $10^{-3}$", "10^3 and 10^-3"),
        (r"\url{http://x.org/~j/a_b} http://y.org/~z\_q", "http://x.org/~j/a_b http://y.org/~z_q"),
        (r"\href{http://a/~b}{text}", "text"),
        (r"\^{} \~{} end\\next", "^ ~ end next"),
        ("a\nb\t c", "a b c"),
        ("{{{unbalanced", "unbalanced"),
        ("e\u0301", "é"),  # NFC
        ("\\", ""),
    ],
)
def test_tex(tex: str, expected: str) -> None:
    assert expected == from_tex(tex)


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One. Two."),
        ("<i>E. coli</i> in H<sub>2</sub>O", "E. coli in H2O"),
        ("10<sup>2</sup> m, the 1<sup>st</sup>", "10^2 m, the 1st"),  # 102 would be another number
        ("AT&amp;amp;T &lt;b&gt;bold&lt;/b&gt; &eacute;", "AT&T bold é"),
        ("p &lt; 0.05 and a<b and c>d", "p < 0.05 and a<b and c>d"),
        ("?a=1&copy=2 R&D", "?a=1&copy=2 R&D"),  # no entity without its semicolon
        ("<mml:math><mml:mi>x</mml:mi></mml:math>", "x"),
        ('<a href="https://x.org">link</a><br/>next', "link next"),
        ("a<!-- hidden -->b", "ab"),
    ],
)
def test_html(fragment: str, expected: str) -> None:
    assert expected == from_html(fragment)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x07c", "abc"),
        ("a\u200bb\u00adc\u202ed", "abcd"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # the joiner is part of the word
        (" a \u00a0\u2003 b ", "a b"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert expected == clean(text)


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"10.1000/a\_b{\_}c", "10.1000/a_b_c"),
        (r"49:8$<$693::AID\textgreater{}", "49:8<693::AID>"),
        (r"\url{https://x.org/~joe}", "https://x.org/~joe"),
        (r"https://x.org/\~{}joe/$\sim$b", "https://x.org/~joe/~b"),
    ],
)
def test_verbatim_keeps_what_addresses_need(tex: str, expected: str) -> None:
    assert expected == verbatim(tex)


@given(st.text())
def test_any_text_becomes_clean_text(text: str) -> None:
    for plain in (clean(text), from_html(text), from_tex(text), verbatim(text)):
        assert unicodedata.normalize("NFC", plain) == plain
        assert plain == plain.strip()
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in plain)
    whole(text).encode()


@given(st.text())
def test_clean_again_changes_nothing(text: str) -> None:
    assert clean(text) == clean(clean(text))


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "\\'",
        "$a",
        "<i",
        "<i a=",
        "http://",
        "&a",
        "<!--",
        "\\href{",
        "<p a='",
        "\\url ",
        "$ ",
        "<title>",
        " ",
    ],
)
def test_markup_is_read_in_linear_time(unit: str) -> None:
    from_tex(unit * 30_000)
    from_tex("<p" + unit * 30_000)
