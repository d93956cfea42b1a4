"""The verbs of a project's log, each imported from its module when it is first called."""

from typing import TYPE_CHECKING

from roamkb.core.startup.lazy_names import lazy_names

if TYPE_CHECKING:
    from roamkb.app.log.brief import brief as brief
    from roamkb.app.log.brief import inject as inject
    from roamkb.app.log.curation import audit as audit
    from roamkb.app.log.curation import curate as curate
    from roamkb.app.log.curation import explain as explain
    from roamkb.app.log.curation import export as export
    from roamkb.app.log.curation import override as override
    from roamkb.app.log.curation import pin as pin
    from roamkb.app.log.curation import refine as refine
    from roamkb.app.log.extraction import extract as extract
    from roamkb.app.log.ingest import ingest as ingest
    from roamkb.app.log.init import init as init
    from roamkb.app.log.instructions import approve as approve
    from roamkb.app.log.instructions import reject as reject
    from roamkb.app.log.instructions import review as review
    from roamkb.app.log.instructions import rollback as rollback
    from roamkb.app.log.learn import learn as learn
    from roamkb.app.log.pipeline import consolidate as consolidate
    from roamkb.app.log.pipeline import observe as observe
    from roamkb.app.log.pipeline import promote as promote
    from roamkb.app.log.pipeline import verify as verify
    from roamkb.app.log.recall import recall as recall
    from roamkb.app.log.remedies import remedy as remedy
    from roamkb.app.log.sharing import bundle as bundle
    from roamkb.app.log.sharing import snapshot as snapshot
    from roamkb.app.log.sharing import template as template
    from roamkb.app.log.tasks import prefer as prefer
    from roamkb.app.log.tasks import relevant as relevant
    from roamkb.app.log.tasks import stats as stats
    from roamkb.app.log.tasks import task as task
    from roamkb.app.log.tasks import undo as undo
    from roamkb.app.log.tasks import used as used

#: The module that defines each.
_MODULES = {
    "approve": "roamkb.app.log.instructions",
    "audit": "roamkb.app.log.curation",
    "brief": "roamkb.app.log.brief",
    "bundle": "roamkb.app.log.sharing",
    "consolidate": "roamkb.app.log.pipeline",
    "curate": "roamkb.app.log.curation",
    "explain": "roamkb.app.log.curation",
    "export": "roamkb.app.log.curation",
    "extract": "roamkb.app.log.extraction",
    "ingest": "roamkb.app.log.ingest",
    "init": "roamkb.app.log.init",
    "inject": "roamkb.app.log.brief",
    "learn": "roamkb.app.log.learn",
    "observe": "roamkb.app.log.pipeline",
    "override": "roamkb.app.log.curation",
    "pin": "roamkb.app.log.curation",
    "prefer": "roamkb.app.log.tasks",
    "promote": "roamkb.app.log.pipeline",
    "recall": "roamkb.app.log.recall",
    "refine": "roamkb.app.log.curation",
    "reject": "roamkb.app.log.instructions",
    "relevant": "roamkb.app.log.tasks",
    "remedy": "roamkb.app.log.remedies",
    "review": "roamkb.app.log.instructions",
    "rollback": "roamkb.app.log.instructions",
    "snapshot": "roamkb.app.log.sharing",
    "stats": "roamkb.app.log.tasks",
    "task": "roamkb.app.log.tasks",
    "template": "roamkb.app.log.sharing",
    "undo": "roamkb.app.log.tasks",
    "used": "roamkb.app.log.tasks",
    "verify": "roamkb.app.log.pipeline",
}

__getattr__ = lazy_names(globals(), _MODULES)
