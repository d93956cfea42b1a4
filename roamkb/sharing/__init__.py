"""Templates, bundles and snapshots of what a project learned."""
