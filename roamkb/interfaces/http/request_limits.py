"""How long the server waits for a request to be complete, and for how many at a time.

uvicorn waits for ever: whoever opens connections and says nothing, or half a request, holds all places.
"""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds from the first byte, or from the connection's beginning, to the last byte; a client on this machine
#: needs milliseconds.
PATIENCE: Final = 10.0
#: Connections that may be waited for; a further one takes the place of the one that waits longest.
_MOST: Final = 64
_INCOMPLETE: Final = (h11.IDLE, h11.SEND_BODY)


#: In the order in which their requests began; a process serves once.
_WAITING: "dict[ImpatientProtocol, asyncio.TimerHandle]" = {}


class ImpatientProtocol(H11Protocol):
    """uvicorn's HTTP, which closes a connection whose request doesn't become complete in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest, if there has to be one."""
        super().data_received(data)
        if self.conn.their_state in _INCOMPLETE:
            self._wait()
        else:
            self._wait_no_longer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self in _WAITING or self.transport.is_closing():
            return
        if len(_WAITING) >= _MOST:
            next(iter(_WAITING)).give_up()
        _WAITING[self] = self.loop.call_later(PATIENCE, self.give_up)

    def _wait_no_longer(self) -> None:
        if timer := _WAITING.pop(self, None):
            timer.cancel()

    def give_up(self) -> None:
        """Close the connection of a client that sent too little in time."""
        self._wait_no_longer()
        self.transport.close()
