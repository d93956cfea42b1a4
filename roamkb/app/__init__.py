"""Wiring of the knowledge base and a project's log from the packages below; HOME is read here."""
