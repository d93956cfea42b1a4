"""The knowledge base's verbs: show, write, supersede, trash and the others."""
