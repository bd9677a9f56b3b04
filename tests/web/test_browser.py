"""Pages in real Chromium: drawn, quiet, self-contained, usable by keyboard and on a phone."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

PAGES = [
    "/",
    "/works",
    "/search?q=gpu",
    "/artifacts",
    "/verifications",
    "/works/tias",
    "/works/gavel-osdi20",
    "/artifacts/gavel",
    "/artifacts/tias-record",
    "/verifications/3",
    "/works/none-such",
]
WIDTHS = {"desktop": 1280, "tablet": 820, "phone": 390, "small phone": 320}


@pytest.fixture
def visit(open_window: Any, address: str) -> Any:
    """A function that opens a window on the example."""

    def opened(width: int = 1280, **options: Any) -> Any:
        return open_window(address, width, **options)

    return opened


@pytest.mark.parametrize("path", PAGES)
def test_no_error_and_nothing_asked_elsewhere(visit: Any, path: str) -> None:
    seen = visit()
    page = seen.go(path)
    if path == "/artifacts/gavel":
        page.wait_for_selector(".chart svg", timeout=30_000)
    page.wait_for_load_state("networkidle")
    # The browser itself notes a page that answers 404.
    assert [line for line in seen.said if "status of 404" not in line] == []
    assert seen.elsewhere == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_never_scrolls_sideways(visit: Any, path: str) -> None:
    page = visit().go(path)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for name, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_chart_has_every_point_and_its_exact_value(visit: Any, example: Any) -> None:
    page = visit().chart()
    points = page.locator('.chart [aria-roledescription="point"]')
    assert points.count() == len(example.SERIES)
    points.nth(1).hover()
    assert page.locator(".chart-label").inner_text().split() == ["step", "2", "total", "3.0406281234567"]
    assert "3.0406281234567" in page.locator(".reading").inner_text()
    page.mouse.move(2, 2)
    assert page.locator(".chart-label").is_hidden()


def test_the_label_stays_in_the_window_of_a_phone(visit: Any) -> None:
    page = visit(390).chart()
    points = page.locator('.chart [aria-roledescription="point"]')
    for number in (0, points.count() - 1):
        points.nth(number).hover()
        box = page.locator(".chart-label").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_the_chart_is_read_by_keyboard(visit: Any) -> None:
    page = visit().chart()
    page.locator('.chart [aria-roledescription="point"]').first.focus()
    page.keyboard.press("ArrowRight")
    assert "3.0406281234567" in page.locator(".reading").inner_text()
    page.keyboard.press("End")
    assert "6.839183" in page.locator(".reading").inner_text()
    tabbable = page.locator('.chart [role="graphics-symbol"][tabindex="0"]')
    assert tabbable.count() == 1


def test_a_hostile_figure_reaches_nothing(open_window: Any, hostile_address: str) -> None:
    seen = open_window(hostile_address)
    page = seen.go("/artifacts/hostile")
    page.wait_for_function("() => !document.querySelector('.chart .waiting')", timeout=30_000)
    page.wait_for_load_state("networkidle")
    assert seen.elsewhere == []
    assert page.locator(".chart a[href], .chart image[href], .vega-actions").count() == 0
    assert page.evaluate("() => window.hurt") is None


def test_without_javascript_everything_but_the_chart_stands(visit: Any) -> None:
    page = visit(java_script_enabled=False).go("/artifacts/gavel")
    assert page.locator("noscript .notice").is_visible()
    assert page.locator("img.still").is_visible()
    page.get_by_text("The 5 rows behind the chart").click()
    assert page.get_by_role("cell", name="3.0406281234567").first.is_visible()
    page.locator("#claim-mean-aware summary").click()
    assert page.get_by_text("baseline table, first row").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_are_readable_in_both_schemes(visit: Any, contrast: Any, scheme: str) -> None:
    seen = visit(color_scheme=scheme)
    page = seen.go("/artifacts/gavel")
    for selector in (
        "h1",
        ".muted",
        "td .outcome.ok",
        "td .outcome.bad",
        "td .outcome.saved",
        ".button",
        ".stamp b",
    ):
        assert contrast(page, selector) >= 4.5, selector
    page = seen.go("/works/tias")
    for selector in (".who b.model", ".status", ".status.model", ".chip.score", ".chip.state", ".never"):
        assert contrast(page, selector) >= 4.5, selector


def test_the_chart_follows_the_scheme(visit: Any) -> None:
    page = visit(color_scheme="light").chart()
    point = page.locator('.chart [aria-roledescription="point"]').first
    bright = point.get_attribute("fill")
    assert bright == "#0f58a8"
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    page.wait_for_selector(".chart svg")
    assert point.get_attribute("fill") not in (None, bright)


def test_a_claim_becomes_a_card_on_a_phone(visit: Any) -> None:
    page = visit(390).go("/artifacts/gavel")
    assert page.locator("table.claims thead").is_hidden()
    line = page.locator("#claim-mean-aware td").first.bounding_box()
    assert line["x"] >= 0
    assert line["x"] + line["width"] <= 390


def test_search_by_keyboard_alone(visit: Any) -> None:
    page = visit().go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.get_by_role("searchbox").focus()
    page.keyboard.type("information-agnostic")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=*")
    assert page.get_by_role("link", name="TIAS").is_visible()


def test_screenshots_for_the_eye(visit: Any, tmp_path: Path) -> None:
    """Nothing here can tell whether they are beautiful: they lie in pytest's folder to be looked at."""
    for name, options in {"phone": {"width": 390}, "dark": {"color_scheme": "dark"}}.items():
        visit(**options).chart().screenshot(path=tmp_path / f"{name}.png", full_page=True)
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
