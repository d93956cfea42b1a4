"""Looking after a log: audit, refine, curate and review."""
