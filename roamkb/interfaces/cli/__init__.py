"""The command line (owns typer)."""
