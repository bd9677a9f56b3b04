"""Statistics in print: shares, coefficients and their intervals. None is said in words, never as 0."""

from catalog.web.format import MINUS

NO_VALUE = "no value"


def share(value: float | None, decimals: int = 2) -> str:
    """3.54 %"""
    return NO_VALUE if value is None else _signed(f"{100 * value:.{decimals}f}") + " %"


def coefficient(value: float | None, decimals: int = 3) -> str:
    """0.672, −0.013"""
    return NO_VALUE if value is None else _signed(f"{value:.{decimals}f}")


def between(low: float | None, high: float | None, decimals: int = 3) -> str:
    """0.610 to 0.731; empty where there is no interval"""
    if low is None or high is None:
        return ""
    return f"{coefficient(low, decimals)} to {coefficient(high, decimals)}"


def shares_between(low: float | None, high: float | None, decimals: int = 2) -> str:
    """2.55 to 4.90 %; empty where there is no interval"""
    if low is None or high is None:
        return ""
    return f"{_signed(f'{100 * low:.{decimals}f}')} to {_signed(f'{100 * high:.{decimals}f}')} %"


def amount(value: float | None) -> str:
    """1,234 or 1,119.05: a whole number as such, else with two decimals."""
    if value is None:
        return NO_VALUE
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def weight(value: float | None) -> str:
    """1,119.0475: up to ten significant digits, without trailing zeros."""
    return "none drawn" if value is None else f"{value:,.10g}"


def _signed(text: str) -> str:
    """With a real minus sign, and none on a rounded zero."""
    return text if not text.startswith("-") else ("" if float(text) == 0 else MINUS) + text[1:]
