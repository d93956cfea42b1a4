"""The local server (owns FastAPI, uvicorn and prometheus-client)."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
