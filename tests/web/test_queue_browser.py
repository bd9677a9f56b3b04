"""Screening in real Chromium: signed in by password, by keyboard alone, on a phone, in the dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog import screening_queries, store

pytestmark = pytest.mark.browser

QUEUE = "/studies/pilot/queue/pilot-screen"
Screened = tuple[Path, tuple[str, ...]]


@pytest.fixture(scope="module")
def passwords() -> Iterator[dict[str, Any]]:
    """Metadata by which Ada, Ben and Cara sign in with the word `secret`, as the closed page tells it."""
    hashed = pytest.importorskip("datasette_auth_passwords.utils").hash_password("secret")
    accounts = {f"{name}_password_hash": {"$env": "RATER_HASH"} for name in ("ada", "ben", "cara")}
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RATER_HASH", hashed)
        yield {"plugins": {"datasette-auth-passwords": accounts}}


@pytest.fixture
def desk(own_study: Screened, passwords: dict[str, Any], serve: Any) -> Iterator[str]:
    """The study behind a real server, for a test that writes."""
    with serve(own_study[0], metadata=passwords) as served:
        yield served


@pytest.fixture(scope="module")
def gallery(screened: Screened, serve: Any) -> Iterator[str]:
    """The study behind a real server, for tests that look."""
    with serve(screened[0]) as served:
        yield served


def sign_in(window: Any, name: str) -> Any:
    """Through the closed page, to the plugin's own, and back."""
    page = window.go(QUEUE)
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(window.address + "/")
    window.said.clear()  # The browser itself notes a page that answers 403.
    return page


def press(page: Any, *keys: str) -> None:
    """One key after the other."""
    for key in keys:
        page.keyboard.press(key)


def send(page: Any) -> None:
    """Enter, and wait for the next page."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def progress(page: Any) -> str:
    """What the page says of how far one is."""
    return str(page.locator(".progress p").first.inner_text())


def test_three_works_by_keyboard_and_one_taken_back(open_window: Any, desk: str, own_study: Screened) -> None:
    path, order = own_study
    window = open_window(desk)
    page = sign_in(window, "ada")
    page.get_by_role("link", name="Rate: First screen").click()
    assert progress(page) == "6 of 9 rated, 3 left"

    press(page, "e", "l")
    send(page)
    # A number includes, and asks nothing that the category doesn't ask for.
    press(page, "2", "h")
    assert page.locator('[name="field.masking"]').is_disabled()
    press(page, "1")
    assert page.locator('[name="field.masking"]').is_enabled()
    press(page, "1")
    send(page)
    press(page, "u", "m", "r")
    page.keyboard.type("A reason with i, e, s and z in it: 1 2 3")
    send(page)
    assert page.get_by_role("heading", name="All 9 works are rated").is_visible()

    with page.expect_navigation():
        press(page, "z")
    assert page.locator("textarea").input_value() == "A reason with i, e, s and z in it: 1 2 3"
    press(page, "3")
    assert page.locator('[name="category"]:checked').count() == 1
    send(page)
    assert progress(page) == "9 of 9 rated"
    assert window.said == []
    assert window.elsewhere == []

    with store.open_catalog(path, writable=False) as catalog:
        rows = catalog.connection.execute(
            "SELECT w.slug, v.decision, v.categories, v.confidence, v.supersedes IS NOT NULL FROM votes v "
            "JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id "
            "WHERE t.slug = 'ada' ORDER BY v.id DESC LIMIT 4"
        ).fetchall()
        last = screening_queries.queue_page(catalog.connection, "pilot-screen", "ada").last
    assert rows[::-1] == [
        (order[6], "out_of_scope", "[]", "low", 0),
        (order[7], "in_scope", '["protocol"]', "high", 0),
        (order[8], "unsure", "[]", "medium", 0),
        (order[8], "in_scope", '["openness"]', "medium", 1),
    ]
    assert last is not None
    assert last.ballot.reason == "A reason with i, e, s and z in it: 1 2 3"


def test_a_second_rater_is_blinded_and_skips(open_window: Any, desk: str, screening: Any) -> None:
    window = open_window(desk)
    page = sign_in(window, "ben")
    page = window.go(QUEUE)
    assert progress(page) == "7 of 9 rated, 2 left"
    seen = page.locator("main").inner_text()
    assert "Ben <b>Bold</b>" in seen
    for other in ("Ada", "rule", "oracle", "machine", "agreed"):
        assert other not in seen
    first = page.locator("h1").inner_text()
    with page.expect_navigation():
        press(page, "s")
    assert page.locator("h1").inner_text() != first
    assert progress(page) == "7 of 9 rated, 2 left, 1 of them put off until the end"
    # Whoever doesn't want single keys turns them off, and they stay off.
    page.get_by_label("Single keys").uncheck()
    press(page, "e")
    assert page.locator("[name=decision]:checked").count() == 0
    page.reload()
    press(page, "e")
    assert page.locator("[name=decision]:checked").count() == 0
    assert window.said == []
    assert window.elsewhere == []


def test_what_is_missing_is_asked_for_before_it_is_sent(open_window: Any, desk: str) -> None:
    window = open_window(desk)
    sign_in(window, "ada")
    page = window.go(QUEUE)
    press(page, "e", "Enter")
    assert page.evaluate("document.querySelector('#ballot').checkValidity()") is False
    assert progress(page) == "6 of 9 rated, 3 left"
    # Included without a category: the server says so, and what was typed is there.
    press(page, "i", "h", "r")
    page.keyboard.type("kept")
    send(page)
    alert = page.get_by_role("alert")
    assert "In_scope, but no category is named." in alert.inner_text()
    assert page.locator("textarea").input_value() == "kept"
    assert [line for line in window.said if "422" not in line] == []


def test_without_javascript_the_form_is_a_form(open_window: Any, desk: str) -> None:
    window = open_window(desk, java_script_enabled=False)
    sign_in(window, "ada")
    page = window.go(QUEUE)
    assert page.locator("kbd").first.is_hidden()
    page.get_by_label("Exclude").check()
    page.get_by_label("low").check()
    page.get_by_role("button", name="Send").click()
    assert progress(page) == "7 of 9 rated, 2 left"
    page.get_by_role("button", name="Skip").click()
    assert "put off" in progress(page)
    page.get_by_role("link", name="Undo").click()
    assert page.get_by_label("Exclude").is_checked()


def looked_at(order: tuple[str, ...]) -> list[str]:
    """Pages that anybody may look at."""
    return [
        "/studies",
        "/studies/pilot",
        "/studies/pilot/rounds/pilot-screen?category=trial",
        "/models",
        "/models/student-1?head=rule&category=trial",
        f"/works/{order[2]}",
        QUEUE,
    ]


def test_pages_are_quiet_and_never_scroll_sideways(
    open_window: Any, gallery: str, screened: Screened
) -> None:
    window = open_window(gallery)
    for path in looked_at(screened[1]):
        page = window.go(path)
        if path.startswith("/models/"):
            page.wait_for_selector(".chart svg", timeout=30_000)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (1280, 820, 390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
    assert [line for line in window.said if "status of 403" not in line] == []
    assert window.elsewhere == []


def test_a_raters_pages_fit_a_phone_and_the_dark(open_window: Any, desk: str, contrast: Any) -> None:
    for name, path in (("ada", QUEUE), ("cara", "/studies/pilot/adjudicate/pilot-screen")):
        window = open_window(desk, 320, color_scheme="dark")
        sign_in(window, name)
        page = window.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        for selector in ("h1", ".pick b", ".pick .muted", "#send", ".chip.human", ".keys", "legend"):
            assert contrast(page, selector) >= 4.5, selector


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_are_readable(
    open_window: Any, gallery: str, screened: Screened, contrast: Any, scheme: str
) -> None:
    window = open_window(gallery, color_scheme=scheme)
    page = window.go(f"/works/{screened[1][2]}")
    for selector in (
        ".chip.human",
        ".chip.model",
        ".chip.score",
        ".chip.contested",
        ".chip.call",
        ".status.human",
    ):
        assert contrast(page, selector) >= 4.5, selector
    page = window.go("/studies/pilot")
    for selector in (".synthetic", ".synthetic b", ".chip.unknown", ".coverage th", "td .beside"):
        assert contrast(page, selector) >= 4.5, selector


def test_a_curve_gives_its_values_when_pointed_at(open_window: Any, gallery: str) -> None:
    window = open_window(gallery)
    page = window.go("/models/student-1?head=rule&category=trial")
    page.wait_for_selector(".chart svg", timeout=30_000)
    points = page.locator('.chart >> nth=0 >> [aria-roledescription="point"]')
    assert points.count() == 3
    points.nth(1).hover()
    assert page.locator(".chart-label").inner_text().split() == ["predicted", "0.5", "observed", "0.55"]
