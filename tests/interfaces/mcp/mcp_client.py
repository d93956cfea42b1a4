"""The official client, talking to a `roamkb mcp` of its own, for tests that don't wait."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal
from anyio.from_thread import start_blocking_portal
from mcp import StdioServerParameters
from mcp.client import Client
from mcp_types import CallToolResult

from tests.conftest import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A client that is connected."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, **arguments: object) -> CallToolResult:
        """Call a tool. The client checks what comes back against the tool's output schema."""
        result: CallToolResult = self.ask("call_tool", tool, arguments)
        return result

    def data(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The structured content of a call, without what every result begins with."""
        content: dict[str, Any] = self.call(tool, **arguments).structured_content
        return {name: value for name, value in content.items() if name != "handling"}

    def ask(self, method: str, *arguments: object) -> Any:
        """Call a method of the client."""
        return self.portal.call(getattr(self.client, method), *arguments)


@contextmanager
def connected(
    world: World, *, cwd: Path | None = None, mode: str = "auto", extra: dict[str, str] | None = None
) -> Iterator[Session]:
    """Start a server in a project of `world`, the personal one unless told otherwise."""
    folder = cwd or world.personal
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "roamkb", "mcp"],
        env={**world.environment(), "PWD": str(folder), **(extra or {})},
        cwd=folder,
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Session(portal=portal, client=client)
