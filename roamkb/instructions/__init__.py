"""Lines proposed for files like CLAUDE.md: proposal, approval and rollback."""
