"""The local server (owns FastAPI, uvicorn and prometheus-client)."""
