"""The example catalog, served in this process or by a server of its own."""

import importlib.util
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from datasette.app import Datasette
from datasette.plugins import pm
from jinja2 import FileSystemBytecodeCache

import catalog.web
from catalog import store

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _load(name: str) -> ModuleType:
    # The tests are no package (--import-mode=importlib), so a neighbour is loaded by its path.
    spec = importlib.util.spec_from_file_location(f"web_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def example() -> ModuleType:
    """The module that makes the example, with the texts in it."""
    return _load("example")


@pytest.fixture(scope="session")
def screening() -> ModuleType:
    """The module that makes the screening study, with the texts in it."""
    return _load("screening_example")


@pytest.fixture(scope="session")
def screened(tmp_path_factory: pytest.TempPathFactory, screening: ModuleType) -> tuple[Path, tuple[str, ...]]:
    """A catalog with a study in every state, and the works of its first round in their order."""
    built: tuple[Path, tuple[str, ...]] = screening.build(tmp_path_factory.mktemp("screening"))
    return built


@pytest.fixture
def own_study(screened: tuple[Path, tuple[str, ...]], tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    """The same in a copy that a test may write into."""
    copy = tmp_path / "screening.db"
    with sqlite3.connect(screened[0]) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    return copy, screened[1]


@pytest.fixture(scope="session", autouse=True)
def _plugin() -> None:
    """The plugin, registered once: by its entry point when it is installed, else here."""
    if not any(plugin is catalog.web for plugin in pm.get_plugins()):
        pm.register(catalog.web, "proofshelf")


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory, example: ModuleType) -> Path:
    """A catalog with every state that a page can show."""
    path: Path = example.build(tmp_path_factory.mktemp("catalog"))
    return path


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog in which nothing is."""
    path = tmp_path_factory.mktemp("empty") / "empty.db"
    store.create(path, who="ada").close()
    return path


@dataclass(frozen=True)
class Site:
    """Asks one catalog for pages, without a network."""

    datasette: Any

    async def get(self, path: str, **more: Any) -> Any:
        """The answer to one request."""
        await self.datasette.invoke_startup()
        return await self.datasette.client.get(path, **more)

    async def post(self, path: str, **more: Any) -> Any:
        """The answer to a form."""
        await self.datasette.invoke_startup()
        return await self.datasette.client.post(path, **more)

    def cookies(self, actor: str) -> dict[str, str]:
        """What a browser sends for somebody whom a plugin has signed in."""
        return {"ds_actor": self.datasette.sign({"a": {"id": actor}}, "actor")}


@pytest.fixture(scope="session")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function from databases to a site that serves them; templates are compiled for the first one."""
    compiled = FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))

    def opened(*paths: Path, **settings: Any) -> Site:
        datasette = Datasette([str(path) for path in paths], **settings)
        datasette.jinja_env.bytecode_cache = compiled
        return Site(datasette)

    return opened


@pytest.fixture(scope="session")
def site(database: Path, open_site: Any) -> Site:
    """The example, served."""
    served: Site = open_site(database)
    return served


@contextmanager
def _served(database: Path, **settings: Any) -> Iterator[str]:
    """The address of a real server on this machine."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    served = Datasette([str(database)], **settings)
    server = uvicorn.Server(uvicorn.Config(served.app(), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="session")
def address(database: Path) -> Iterator[str]:
    """The example behind a real server."""
    with _served(database) as served:
        yield served


@pytest.fixture(scope="session")
def serve() -> Any:
    """A function that serves a database for as long as its `with` block lasts."""
    return _served


@pytest.fixture
def hostile_address(tmp_path: Path, example: ModuleType) -> Iterator[str]:
    """A package whose chart would fetch, link and run things, behind a real server."""
    path = tmp_path / "hostile.db"
    with store.create(path) as catalog:
        catalog.add_package(example.hostile(tmp_path / "hostile"))
    with _served(path) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Real Chromium, without a window.

    For one module only: while Playwright runs, this thread has a running event loop, and tests
    elsewhere that start one of their own would fail.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield launched
        launched.close()


class Visit:
    """One page in one window, with everything that it said and asked for."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.elsewhere.append(request.url)

    def go(self, path: str) -> Any:
        """Open a page of the catalog."""
        self.page.goto(self.address + path)
        return self.page

    def chart(self) -> Any:
        """Open the package's page and wait for its chart."""
        self.go("/artifacts/gavel")
        self.page.wait_for_selector(".chart svg", timeout=30_000)
        return self.page


@pytest.fixture
def open_window(browser: Any) -> Iterator[Callable[..., Visit]]:
    """A function that opens a window on a server; each has cookies of its own."""
    contexts = []

    def opened(address: str, width: int = 1280, **options: Any) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": 844}, **options)
        contexts.append(context)
        return Visit(context.new_page(), address)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def contrast() -> Callable[[Any, str], float]:
    """A function from a page and a selector to the contrast of its words with what lies behind them."""
    return _contrast


def _contrast(page: Any, selector: str) -> float:
    return float(
        page.evaluate(
            """selector => {
      const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
      const light = colour => parts(colour).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const element = document.querySelector(selector);
      let behind = element;
      while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
      const one = light(getComputedStyle(element).color);
      const other = light(getComputedStyle(behind).backgroundColor);
      return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    }""",
            selector,
        )
    )
