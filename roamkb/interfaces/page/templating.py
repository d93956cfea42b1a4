"""Templates of the page: every value is text that is escaped and cleaned, unless it is markup already."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from jinja2 import Environment
from jinja2 import FileSystemLoader
from jinja2 import StrictUndefined
from markupsafe import Markup
from markupsafe import escape

from roamkb.core.text import strip_hidden
from roamkb.interfaces.page.decisions.outcomes import can_sign
from roamkb.interfaces.page.decisions.outcomes import shown_outcome
from roamkb.interfaces.page.live import shown_mark

Row = TypeVar("Row")

FOLDER = Path(__file__).parent


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean_value,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["commands"] = mark_commands
    return environment


def mark_commands(text: str) -> Markup:
    """Return a message with what stands between backticks as code, as a terminal's reader takes it."""
    parts = (
        Markup("<code>{}</code>").format(strip_hidden(part)) if number % 2 else escape(strip_hidden(part))
        for number, part in enumerate(text.split("`"))
    )
    return Markup("").join(parts)


def _clean_value(value: object) -> object:
    """Return what a template prints, without characters that act instead of showing."""
    return strip_hidden(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def first_rows(rows: Sequence[Row], most: int) -> tuple[Sequence[Row], int]:
    """Return at most `most` rows for a page, and how many more there are."""
    return rows[:most], max(len(rows) - most, 0)


def render_page(name: str, **values: object) -> str:
    """Return the page of a template; `values` are its variables, beside those of every page."""
    template = _environment().get_template(name)
    # one name with two values raises
    return template.render(**values, outcome=shown_outcome.get(), can_sign=can_sign.get(), mark=shown_mark.get())


def as_markup(html: str) -> Markup:
    """Return HTML that `org.html` rendered, for a template to take as it is."""
    return Markup(html)
