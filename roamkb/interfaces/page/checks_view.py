"""Checks: what `doctor` finds, looked at when the page is asked for; it tries the hooks and the wall."""

from starlette.requests import Request

from roamkb.app import server
from roamkb.interfaces.page.templating import render_page


def view_checks(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of all checks, the faults first."""
    report = kb.doctor()
    checks = sorted(report.checks, key=lambda check: (check.ok, not check.proved))
    return 200, render_page("checks.html", checks=checks, verdict=report.verdict)
