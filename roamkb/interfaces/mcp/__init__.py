"""Interface for agents that speak MCP (owns the MCP SDK)."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
