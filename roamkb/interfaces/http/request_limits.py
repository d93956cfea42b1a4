"""Limits on incomplete requests: their time, and their number at a time.

uvicorn waits for ever: whoever opens connections and says nothing, or half a request, holds all places.
"""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds from the first byte, or from the connection's beginning, to the last byte; a client on this machine
#: needs milliseconds.
REQUEST_TIMEOUT: Final = 10.0
#: Connections that may be waited for; a further one takes the place of the one that waits longest.
_MAX_INCOMPLETE: Final = 64
_INCOMPLETE_STATES: Final = (h11.IDLE, h11.SEND_BODY)


#: In the order in which their requests began; a process serves once.
_INCOMPLETE_TIMERS: "dict[ImpatientProtocol, asyncio.TimerHandle]" = {}


class ImpatientProtocol(H11Protocol):
    """uvicorn's HTTP, closing connections whose request isn't complete in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the request, if it is incomplete."""
        super().data_received(data)
        if self.conn.their_state in _INCOMPLETE_STATES:
            self._start_timer()
        else:
            self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self in _INCOMPLETE_TIMERS or self.transport.is_closing():
            return
        if len(_INCOMPLETE_TIMERS) >= _MAX_INCOMPLETE:
            next(iter(_INCOMPLETE_TIMERS)).give_up()
        _INCOMPLETE_TIMERS[self] = self.loop.call_later(REQUEST_TIMEOUT, self.give_up)

    def _cancel_timer(self) -> None:
        if timer := _INCOMPLETE_TIMERS.pop(self, None):
            timer.cancel()

    def give_up(self) -> None:
        """Close the connection of a client that sent too little in time."""
        self._cancel_timer()
        self.transport.close()
