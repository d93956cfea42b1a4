"""Ports of the local server, which hooks protect."""
