"""Interface for agents that speak MCP (owns the MCP SDK)."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
