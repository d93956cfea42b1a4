"""Results on what is trusted, as text and as JSON."""

from collections.abc import Iterator

from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.proof.store import approver_keys
from roamkb.log.trust import trust as log_trust
from roamkb.log.trust.store import trust_lists


def trust(result: "log_trust.TrustReport") -> PrintedResult:
    """Render what is trusted, and what of this project's log counts by it."""
    return PrintedResult(
        result=result, text=lambda _: "\n".join(_trust_lines(result)), warnings=tuple(map(one_line, result.faults))
    )


def _trust_lines(result: "log_trust.TrustReport") -> Iterator[str]:
    if result.done != "listed":
        yield result.done
    yield from map(_entry_line, result.entries)
    if not result.entries:
        yield "no digest and no key is trusted on this machine"
    yield from map(_approver_line, result.approvers)
    if result.first_use:
        yield f"the first approver key was trusted on {result.first_use} because it was the first"
    if result.digest:
        yield f"this project's log: {result.digest}"
    if result.vouchers:
        yield f"it counts by {', '.join(map(one_line, result.vouchers))}"
    if result.missing:
        yield f"nothing of it counts: {count_phrase(result.missing, 'line')} of a trusted key or digest missing"
        yield from (f"  {one_line(line)}" for line in result.missing_lines)
        yield "  `git show COMMIT:.roamkb/ledger.jsonl` has what was signed: put it back, or pull a signed commit after"
    if result.unseen:
        yield f"nobody vouches for {count_phrase(result.unseen, 'line')} of it: not shown"


def _approver_line(key: "approver_keys.ApproverKey") -> str:
    vouched = f"signed for by {key.signed_by}" if key.signed_by else ""
    added = f"since {one_line(key.added)}" if key.added else ""
    facts = (f"approver {key.name}", one_line(key.comment), added, vouched, one_line(str(key.source)))
    return "  ".join(filter(None, facts))


def _entry_line(entry: "trust_lists.TrustedEntry") -> str:
    until = f"until {entry.until}" if entry.until else ""
    facts = (entry.name, one_line(entry.comment), until, one_line(str(entry.source)))
    return "  ".join(filter(None, facts))
