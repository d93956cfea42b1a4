"""A harness's session, wired event by event."""
