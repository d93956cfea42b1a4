"""Interface for agents that speak MCP (owns the MCP SDK)."""
