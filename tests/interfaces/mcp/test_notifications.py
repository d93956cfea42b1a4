"""What a client is told when notes change, by the client's own SDK, in both eras of the protocol."""

import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.server.subscriptions import ResourcesListChanged
from mcp.server.subscriptions import ResourceUpdated

from tests.conftest import World

# what the latest revision took away, the handshake's still has
pytestmark = pytest.mark.filterwarnings("ignore:resources/")

ID = "0a1b2c3d-0000-4000-8000-000000000001"
URI = f"roamkb://node/{ID}"


def server_of(world: World) -> StdioServerParameters:
    """A server in the personal project."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "roamkb", "mcp"],
        env={**world.environment(), "PWD": str(world.personal)},
        cwd=world.personal,
    )


async def _told(world: World, change: Callable[[], object]) -> list[Any]:
    """Return what a stream of the latest revision tells of a change, up to the note's own."""
    found: list[Any] = []
    async with (
        Client(server_of(world)) as client,
        client.listen(resources_list_changed=True, resource_subscriptions=[URI]) as stream,
    ):
        change()
        async for event in stream:
            found.append(event)
            if isinstance(event, ResourceUpdated):
                break
    return found


async def _told_by_notification(world: World, change: Callable[[], object]) -> list[str]:
    """Return what the handshake's client is told, up to the note's own."""
    send, receive = anyio.create_memory_object_stream[str](99)

    async def heard(message: Any) -> None:
        name = getattr(getattr(message, "root", message), "method", "")
        if name:
            await send.send(name)

    found: list[str] = []
    async with Client(server_of(world), mode="legacy", message_handler=heard) as client:
        assert "2026-07-28" != client.protocol_version
        await client.subscribe_resource(URI)
        change()
        async for name in receive:
            found.append(name)
            if name == "notifications/resources/updated":
                break
        await client.unsubscribe_resource(URI)
    return found


def test_a_listener_is_told_which_note_changed(world: World) -> None:
    """Though nobody calls anything: a human saved it in Emacs."""
    world.node("one.org", ID, "Invoices are numbered")
    found = anyio.run(_told, world, lambda: world.node("one.org", ID, "Invoices are numbered", "By year."))
    assert [ResourcesListChanged(), ResourceUpdated(URI)] == found


def test_a_subscriber_of_the_handshakes_era_is_told(world: World) -> None:
    """By notifications of their own."""
    path = world.node("one.org", ID, "Invoices are numbered")
    found = anyio.run(_told_by_notification, world, path.unlink)
    assert ["notifications/resources/list_changed", "notifications/resources/updated"] == found


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "roamkb:one"])
def test_only_notes_are_followed(world: World, uri: str) -> None:
    """Whatever the address says."""

    async def follow() -> None:
        async with Client(server_of(world), mode="legacy") as client:
            with pytest.raises(MCPError, match="only notes"):
                await client.subscribe_resource(uri)

    anyio.run(follow)
