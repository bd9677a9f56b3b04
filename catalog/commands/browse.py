"""`proofshelf browse`."""

import asyncio
import ipaddress
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import on_terminal, print_json, say


@click.command("browse")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="0 takes any free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--open/--no-open", "open_page", default=True, show_default=True, help="Open the front page.")
@database_option
@json_option
def command(port: int, host: str, open_page: bool, db: Path, as_json: bool) -> None:
    """Show the catalog in a browser, read-only, until Ctrl-C.

    Nothing is fetched from elsewhere. Plain `datasette FILE` shows the same.

    \b
    Examples:
      proofshelf browse
      proofshelf browse --port 8080 --no-open
    """
    with reading(db):
        pass  # Refuses what is no catalog, with the sentence of the store.
    listener = _listen(host, port)
    url = _url(host, listener.getsockname()[1])
    if as_json:
        print_json({"url": url, "database": db, "read_only": True})
    else:
        say(f"{db} is at {url} (read-only; Ctrl-C stops).")
        if not _loopback(host):
            say("Anyone who reaches this machine can read it there.")
    sys.stdout.flush()
    if open_page and on_terminal():
        threading.Timer(0.5, lambda: webbrowser.open(url)).start()
    _serve(db, listener)
    if not as_json:
        say("Stopped.")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Refused(
            f"can't listen on {host} port {port}: {reason}; try --port 0, which takes any free one"
        ) from None
    return listener


def _url(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _serve(db: Path, listener: socket.socket) -> None:
    """Serve until Ctrl-C. Datasette opens a mutable file with mode=ro and sees later changes."""
    import uvicorn
    from datasette import app, handle_exception

    # Datasette prints every refused request as a long traceback where rich is installed.
    handle_exception.rich = None
    served = app.Datasette([str(db)])

    async def run() -> None:
        await served.invoke_startup()
        config = uvicorn.Config(served.app(), log_level="warning", lifespan="on")
        await uvicorn.Server(config).serve(sockets=[listener])

    with suppress(KeyboardInterrupt):
        asyncio.run(run())
