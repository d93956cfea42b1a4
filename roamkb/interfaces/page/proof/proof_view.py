"""The page's views for a signed yes: an act with its question and four words, and a key for the page."""

import json
import secrets
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Mapping
from functools import partial
from shlex import quote
from typing import Final

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.interfaces.page.decisions.forms import BACK_FIELD
from roamkb.interfaces.page.decisions.forms import FormFields
from roamkb.interfaces.page.decisions.forms import OperationForm
from roamkb.interfaces.page.decisions.forms import own_address
from roamkb.interfaces.page.decisions.outcomes import FormOutcome
from roamkb.interfaces.page.proof.page_human import PATIENCE
from roamkb.interfaces.page.proof.page_human import Assertion
from roamkb.interfaces.page.proof.page_human import PageHuman
from roamkb.interfaces.page.proof.page_human import decode_url
from roamkb.interfaces.page.templating import render_page
from roamkb.log.proof.key_signature import credential_comment
from roamkb.log.proof.key_signature import page_key
from roamkb.log.proof.key_signature import public_point

#: Who asks for more has forgotten the first.
_MOST_PENDING: Final = 8
#: Acts that take a human's yes, by the last part of their address.
HUMAN_ACTS: Final[Mapping[str, OperationForm]] = {
    "approve": OperationForm(operation="approve", parameters=("id", "digest")),
    "reject": OperationForm(operation="reject", parameters=("id", "reason")),
    "rollback": OperationForm(operation="rollback", parameters=("id", "reason")),
    "override": OperationForm(operation="override", parameters=("key", "confidence")),
    "curate": OperationForm(operation="curate", parameters=("apply", "reason")),
    "forget": OperationForm(operation="forget", parameters=("key",)),
    "trust": OperationForm(operation="trust", parameters=("names",), fixed={"action": "add", "approver": True}),
}
#: The parameter that names an act that waits.
YES_PARAMETER: Final = "yes"


class PendingAct:
    """One act: what it asks, and what came of it."""

    def __init__(self, human: PageHuman, carry_out: Callable[[PageHuman], FormOutcome], *, back: str) -> None:
        """Begin the act, which asks the human and then waits."""
        self.human = human
        self.back = back
        self._carry_out = carry_out
        self._outcome: FormOutcome | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._carry_out(self.human)
        except (RoamkbError, OSError) as error:
            self._error = error
        finally:
            self.human.is_asked.set()

    @property
    def is_waiting(self) -> bool:
        """Whether it has asked, once there is a question or an end."""
        self.human.is_asked.wait(PATIENCE)
        return self.human.question is not None and self._thread.is_alive()

    def finish(self, assertion: Assertion | None) -> FormOutcome:
        """Answer it, and return what it did; raises what it raised."""
        self.human.answer(assertion)
        self._thread.join(PATIENCE)
        if self._error is not None:
            raise self._error
        if self._outcome is None:
            raise RoamkbError("it isn't done yet, and the server's terminal says why")
        return self._outcome


class PendingActs:
    """The acts that wait, by names that only the session's browser is told."""

    def __init__(self) -> None:
        self._acts: OrderedDict[str, PendingAct] = OrderedDict()

    def add(self, act: PendingAct) -> str:
        """Keep an act, and return its name; the oldest of too many is answered by no."""
        name = secrets.token_urlsafe(18)
        self._acts[name] = act
        while len(self._acts) > _MOST_PENDING:
            _, oldest = self._acts.popitem(last=False)
            oldest.human.answer(None)
        return name

    def find(self, name: str) -> PendingAct | None:
        """Return an act that waits."""
        return self._acts.get(name)

    def take(self, name: str) -> PendingAct | None:
        """Return an act that waits, which is answered now: what answers it a second time finds nothing."""
        return self._acts.pop(name, None)


class ProofDesk:
    """The acts of one page that wait for a key's touch."""

    def __init__(self, origin: str) -> None:
        """Take the page's origin, with its port."""
        self._origin = origin
        self._acts = PendingActs()

    def begin(self, kb: "server.ServedKnowledgeBase", form: OperationForm, fields: FormFields) -> FormOutcome:
        """Begin an act; return what it did where it asked nothing, else where its question stands."""
        back = own_address(fields.get(BACK_FIELD, ""), default="/")

        def carry_out(human: PageHuman) -> FormOutcome:
            return form(kb.for_signer(human), fields)

        act = PendingAct(PageHuman(self._origin), carry_out, back=back)
        if not act.is_waiting or act.human.question is None:
            return act.finish(None)
        # whoever drives the browser can show another text there, and not here
        print(json.dumps({"page_asks": act.human.question.shown.splitlines()}), file=sys.stderr, flush=True)
        return FormOutcome(text="", href=f"/approve?{YES_PARAMETER}={self._acts.add(act)}")

    def view_question(self, _: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
        """Return the page of an act that waits: what it would do, and the button that has the key asked for."""
        name = request.query_params.get(YES_PARAMETER, "")
        act = self._acts.find(name)
        if act is None or act.human.question is None:
            raise NotFound(name, kind="question that waits", hint="it was answered, or is over: begin again")
        return 200, render_page("approve.html", yes=name, question=act.human.question, back=act.back)

    def answer(self, fields: FormFields, *, is_yes: bool) -> FormOutcome:
        """Answer an act that waits, and return what it did."""
        act = self._acts.take(fields.get(YES_PARAMETER, ""))
        if act is None:
            raise UsageError("that question isn't asked any more; nothing was written", hint="begin again")
        if not is_yes:
            act.human.answer(None)
            return FormOutcome(text="nothing was written", href=act.back)
        given = partial(_decode_field, fields)
        outcome = act.finish(
            Assertion(
                credential=fields.get("credential", ""),
                authenticator=given("authenticator"),
                client_data=given("client"),
                signature=given("signature"),
            )
        )
        return FormOutcome(text=outcome.text, warnings=outcome.warnings, href=act.back)


def _decode_field(fields: FormFields, name: str) -> bytes:
    return decode_url(fields.get(name, ""))


def view_key(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page on which the browser makes a key; of one that it made, with what registers it."""
    key = _made_key(request.query_params)
    report = kb.log.trust()
    command = f"roamkb trust add --approver {quote(key)}" if key else ""
    is_known = any(known.key == " ".join(key.split()[:2]) for known in report.approvers)
    return 200, render_page("key.html", report=report, key=key, command=command, is_known=is_known)


def _made_key(values: Mapping[str, str]) -> str:
    """Return the public key that a browser made, as a list has it; empty where it made none.

    Raises:
        UsageError: what it made is no key of the curve P-256.
    """
    credential, public = values.get("credential", ""), values.get("public", "")
    if not credential and not public:
        return ""
    point = public_point(decode_url(public))
    if not point or not decode_url(credential):
        raise UsageError("the browser made no key that OpenSSH knows (ES256)", hint="take another authenticator")
    return f"{page_key(point)} {credential_comment(credential)}"
