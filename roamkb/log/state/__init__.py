"""The log and its ledger replayed into each learning's state and confidence."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
