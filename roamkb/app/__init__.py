"""Wires storage, boundary and actions together, for the knowledge base and for a project's log."""

from roamkb.app.knowledge_base import KnowledgeBase as KnowledgeBase
from roamkb.app.surroundings import Surroundings as Surroundings
