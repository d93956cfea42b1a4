"""Search: the query, its filters, the ranking and the verb."""
