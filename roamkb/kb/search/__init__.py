"""Search: the query, its filters, the ranking and the verb."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
