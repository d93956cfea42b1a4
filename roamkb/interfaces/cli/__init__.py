"""The command line (owns typer)."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
