"""Results on a shared log, as text and as JSON."""

from collections.abc import Iterator
from datetime import UTC
from datetime import datetime

from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.share import share as log_share


def share(result: "log_share.ShareReport") -> PrintedResult:
    """Render how a log is shared; of `migrate` the SQL alone, to be piped."""
    return PrintedResult(result=result, text=lambda _: result.sql or "\n".join(_status_lines(result)))


def _status_lines(result: "log_share.ShareReport") -> Iterator[str]:
    if result.state == "off":
        yield "this log isn't shared"
    else:
        heard = datetime.fromtimestamp(result.heard, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if result.heard else ""
        yield f"shared as {result.project} by the {result.kind} service {result.service}"
        yield f"last heard of {heard}" if heard else "not heard of yet"
        yield f"{count_phrase(result.received, 'line')} came from it"
    if result.held_back:
        yield f"{count_phrase(result.held_back, 'line')} wait there until an open transaction ends"
    yield from (f"{count_phrase(count, 'line')} not sent: {one_line(reason)}" for reason, count in result.withheld)
    yield from (f"{count_phrase(count, 'line')} put aside: {one_line(reason)}" for reason, count in result.aside)
    if result.aside_file:
        yield f"aside: {one_line(str(result.aside_file))}"
    if result.trouble:
        yield f"!! {one_line(result.trouble)}"
