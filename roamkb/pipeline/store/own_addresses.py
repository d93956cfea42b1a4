"""A project's own addresses: those in files as git has them, and those of its remotes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from roamkb.fs.git_index import unchanged_texts
from roamkb.fs.git_repository import remote_urls
from roamkb.pipeline.gate.hazards import NamedAddress

#: Seconds that the look for one address may take; what wasn't found by then isn't the project's.
_MOST_SECONDS: Final = 5.0


class OwnAddresses:
    """The addresses of the project at `root`, looked for as they are asked about."""

    def __init__(self, root: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._clock = clock
        self._known: dict[NamedAddress, bool] = {}

    def has_address(self, address: NamedAddress) -> bool:
        """Say whether an address is the project's own."""
        if address not in self._known:
            self._known[address] = self._search_project(address)
        return self._known[address]

    def _search_project(self, address: NamedAddress) -> bool:
        end = self._clock() + _MOST_SECONDS
        # `git@host:owner/name` is the remote's address as `host/owner` is
        if any(
            address.is_named_in(form) for url in remote_urls(str(self._root)) for form in (url, url.rpartition("@")[2])
        ):
            return True
        for text in unchanged_texts(self._root):
            if address.is_named_in(text):
                return True
            if self._clock() > end:
                return False
        return False
