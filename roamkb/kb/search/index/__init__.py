"""The SQLite index over notes and logs: derived, refreshed before each query, disposable."""
