"""A project's log shared by several machines, by way of a PostgreSQL service; the files stay the truth."""
