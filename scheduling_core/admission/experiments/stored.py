"""The image store while time goes on: what a start finds in it, by the rules of `images.store_use`."""

from __future__ import annotations

from scheduling_core.admission.experiments.costs import Loading
from scheduling_core.admission.schedule import ImageStore


class Stored:
    """Images in use and kept; at each tick: every `leave`, `make_room`, every `enter`, `make_room`."""

    def __init__(self, rules: ImageStore, loading: Loading) -> None:
        self.rules, self.loading = rules, loading
        self.loads = 0
        self._held = 0
        self._sizes: dict[str, int] = {}
        self._users: dict[str, int] = {}
        self._kept: dict[str, int] = {}  # image -> tick of its last use
        self._ready: dict[str, int] = {}  # image -> tick from which it is there whole

    def leave(self, image: str, now: int) -> None:
        """One user has ended."""
        self._expire(now)
        self._users[image] -= 1
        if not self._users[image]:
            del self._users[image]
            self._kept[image] = now
            if self.rules.retention_ticks == 0:
                self._drop(image)

    def make_room(self) -> None:
        """Let go what was used least recently while there is more than fits."""
        if self.rules.cache_kib is None:
            return
        for image in sorted(self._kept, key=lambda name: (self._kept[name], name)):
            if self._held <= self.rules.cache_kib:
                break
            self._drop(image)

    def enter(self, image: str, kib: int, now: int) -> int:
        """One user starts; the ticks until its image is there whole."""
        self._expire(now)
        if image not in self._users and self._kept.pop(image, None) is None:
            self.loads += 1
            self._held += kib
            self._sizes[image] = kib
            self._ready[image] = now + self.loading.ticks(kib)
        self._users[image] = self._users.get(image, 0) + 1
        return max(0, self._ready[image] - now)

    def _expire(self, now: int) -> None:
        """Let go what was kept long enough."""
        if self.rules.retention_ticks is not None:
            for image, last in list(self._kept.items()):
                if last + self.rules.retention_ticks <= now:
                    self._drop(image)

    def _drop(self, image: str) -> None:
        del self._kept[image]
        self._held -= self._sizes[image]
