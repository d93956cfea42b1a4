"""The log and its ledger replayed into each learning's state and confidence."""
