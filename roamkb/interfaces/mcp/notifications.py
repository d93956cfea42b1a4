"""Notifications to a client of the MCP server about changed notes.

The notes' stats are compared after each call, and every few seconds while somebody listens. Both eras are
served: the handshake's notifications, and the streams of 2026-07-28. All of it is written by the event loop
that answers calls, so that nothing stands on standard output out of turn.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final
from typing import TypeVar

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.server.subscriptions import ListenHandler
from mcp.server.subscriptions import ResourcesListChanged
from mcp.server.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types import EmptyResult
from mcp_types import SubscribeRequestParams
from mcp_types import SubscriptionsListenRequestParams
from mcp_types import SubscriptionsListenResult
from mcp_types import UnsubscribeRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from roamkb.app.server import ServedKnowledgeBase
from roamkb.interfaces.mcp.results import NODE_PREFIX
from roamkb.interfaces.mcp.results import node_state
from roamkb.kb.notes.store import walk

#: Seconds between two looks while somebody listens; where nothing is watched, one at 10,000 notes takes some 20 ms.
_POLL_SECONDS: Final = 3.0
#: Notes that are followed at once, and streams.
_MOST_FOLLOWED: Final = 200
_MOST_STREAMS: Final = 16

Context = ServerRequestContext[object]
_T = TypeVar("_T")


class ChangeNotifier:
    """Comparison of the notes' states between two looks, and the clients to notify."""

    def __init__(self, kb: ServedKnowledgeBase, *, in_turn: anyio.CapacityLimiter) -> None:
        """Take the knowledge base, and the limiter that calls go by."""
        self._kb = kb
        self._in_turn = in_turn
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus, max_subscriptions=_MOST_STREAMS)
        #: By their addresses: how many streams follow each; what the handshake's client follows.
        self._followed: Counter[str] = Counter()
        self._subscribed: set[str] = set()
        self._listening = 0
        #: The client of the handshake's era; there is one on standard input.
        self._session: ServerSession | None = None
        self._notes: tuple[walk.NoteFile, ...] | None = None
        self._states: dict[str, str] = {}

    async def watch_notes(self) -> None:
        """Compare the notes' states every few seconds, as long as the server runs."""
        self._notes = await self._run_in_turn(self._kb.notes_state)
        # the client may leave while it is told
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await anyio.sleep(_POLL_SECONDS)
                if self._listening or self._subscribed:
                    await self.notify_changes()

    async def notify_changes(self, context: Context | None = None) -> None:
        """Notify the clients of changes; `context` is that of a call answered just now."""
        if context is not None and context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._session = context.session
        before, self._notes = self._notes, await self._run_in_turn(self._kb.notes_state)
        if before is None or before == self._notes:
            return
        await self._bus.publish(ResourcesListChanged())
        if self._session is not None:
            await self._session.send_resource_list_changed()
        for uri in {*self._followed, *self._subscribed}:
            await self._notify_if_changed(uri)

    async def _notify_if_changed(self, uri: str) -> None:
        before = self._states.get(uri)
        self._states[uri] = await self._run_in_turn(partial(node_state, self._kb, uri))
        if before == self._states[uri]:
            return
        await self._bus.publish(ResourceUpdated(uri))
        if uri in self._subscribed and self._session is not None:
            await self._session.send_resource_updated(uri)

    async def serve_stream(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of 2026-07-28 until its client closes it."""
        uris = list(params.notifications.resource_subscriptions or ())
        for uri in uris:
            await self._start_following(uri)
        self._followed.update(uris)
        self._listening += 1
        try:
            return await self._streams(context, params)
        finally:
            self._listening -= 1
            self._followed.subtract(uris)
            self._followed += Counter()

    async def subscribe_note(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Follow a note for a client of the handshake's era."""
        await self._start_following(str(params.uri))
        self._subscribed.add(str(params.uri))
        self._session = context.session
        return EmptyResult()

    async def unsubscribe_note(self, _: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Stop following a note."""
        self._subscribed.discard(str(params.uri))
        return EmptyResult()

    async def _start_following(self, uri: str) -> None:
        if not uri.startswith(NODE_PREFIX):
            raise MCPError(INVALID_PARAMS, "only notes of the knowledge base can be followed")
        if len({*self._followed, *self._subscribed, uri}) > _MOST_FOLLOWED:
            raise MCPError(INVALID_PARAMS, f"no more than {_MOST_FOLLOWED} notes can be followed")
        self._states[uri] = await self._run_in_turn(partial(node_state, self._kb, uri))

    async def _run_in_turn(self, call: Callable[[], _T]) -> _T:
        return await anyio.to_thread.run_sync(call, limiter=self._in_turn)
