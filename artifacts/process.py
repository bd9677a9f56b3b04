"""Child processes that analyses run in: their own group, a time limit, and a kill that leaves nothing."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_READ = 1 << 20
MAX_REPLY_BYTES = 256 << 20


class TookTooLong(Exception):
    """The child didn't answer within the time limit; it has been killed."""


class Died(Exception):
    """The child ended without an answer; the message says how."""


class ReplyTooLong(Exception):
    """The child answered more than `MAX_REPLY_BYTES`; it has been killed."""


@dataclass
class Child:
    """One child that answers one line of JSON to each line of JSON."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: str

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(
            self.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=dict(self.environment),
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        os.set_blocking(self._output.fileno(), False)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send one line and wait for one line. Raises TookTooLong, Died or ReplyTooLong, the child killed."""
        try:
            return self._exchange(memoryview(line + b"\n"), time.monotonic() + seconds)
        except BaseException:
            self.kill()
            raise

    def _exchange(self, unsent: memoryview, deadline: float) -> bytes:
        received = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._input, selectors.EVENT_WRITE)
            selector.register(self._output, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TookTooLong
                for key, _ in selector.select(left):
                    if key.fileobj is self._input:
                        try:
                            unsent = unsent[os.write(self._input.fileno(), unsent[:_READ]) :]
                        except BrokenPipeError:
                            unsent = unsent[:0]
                        if not unsent:
                            selector.unregister(self._input)
                        continue
                    piece = os.read(self._output.fileno(), _READ)
                    if not piece:
                        raise Died(self._how_it_ended())
                    received += piece
                    if len(received) > MAX_REPLY_BYTES:
                        raise ReplyTooLong
                    if received.endswith(b"\n"):
                        return bytes(received[:-1])

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed its answer and went on running"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by signal {signal.Signals(-code).name}"
        return f"it ended with exit code {code} and no answer"

    def end(self) -> None:
        """Let an idle child end by itself, and kill it when it doesn't."""
        with contextlib.suppress(OSError):
            self._input.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        self.kill()

    def kill(self) -> None:
        """Kill the child with everything that it started, and wait for it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._input, self._output):
            with contextlib.suppress(OSError):
                stream.close()
