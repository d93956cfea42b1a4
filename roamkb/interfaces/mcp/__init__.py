"""The door for agents that speak MCP (owns the MCP SDK)."""
