"""Requests of all verbs, each imported from its verb's module when it is first named."""

from typing import TYPE_CHECKING

from roamkb.core.startup.lazy_names import lazy_names

if TYPE_CHECKING:
    from roamkb.boundary.classify import ClassifyRequest as ClassifyRequest
    from roamkb.context.brief import BriefRequest as BriefRequest
    from roamkb.context.store.injections import InjectRequest as InjectRequest
    from roamkb.curation.audit import AuditRequest as AuditRequest
    from roamkb.curation.curate import CurateRequest as CurateRequest
    from roamkb.curation.refine import RefineRequest as RefineRequest
    from roamkb.install.requests import InstallRequest as InstallRequest
    from roamkb.install.requests import UninstallRequest as UninstallRequest
    from roamkb.instructions.approve import ApproveRequest as ApproveRequest
    from roamkb.instructions.approve import RejectRequest as RejectRequest
    from roamkb.instructions.review import ReviewRequest as ReviewRequest
    from roamkb.instructions.rollback import RollbackRequest as RollbackRequest
    from roamkb.journal.journal import JournalRequest as JournalRequest
    from roamkb.kb.conflicts import ConflictsRequest as ConflictsRequest
    from roamkb.kb.hygiene import HygieneRequest as HygieneRequest
    from roamkb.kb.index_admin import IndexRequest as IndexRequest
    from roamkb.kb.links import LinksRequest as LinksRequest
    from roamkb.kb.search.search import SearchRequest as SearchRequest
    from roamkb.kb.show import ShowRequest as ShowRequest
    from roamkb.kb.supersede import SupersedeRequest as SupersedeRequest
    from roamkb.kb.trash import RestoreRequest as RestoreRequest
    from roamkb.kb.trash import TrashRequest as TrashRequest
    from roamkb.kb.write import WriteRequest as WriteRequest
    from roamkb.log.explain import ExplainRequest as ExplainRequest
    from roamkb.log.export import ExportRequest as ExportRequest
    from roamkb.log.init import InitRequest as InitRequest
    from roamkb.log.learn import LearnRequest as LearnRequest
    from roamkb.log.pin import OverrideRequest as OverrideRequest
    from roamkb.log.pin import PinRequest as PinRequest
    from roamkb.log.prefer import PreferRequest as PreferRequest
    from roamkb.log.recall import RecallRequest as RecallRequest
    from roamkb.log.undo import UndoRequest as UndoRequest
    from roamkb.pipeline.consolidate import ConsolidateRequest as ConsolidateRequest
    from roamkb.pipeline.extract.model_extraction import ExtractRequest as ExtractRequest
    from roamkb.pipeline.ingest.ingest import IngestRequest as IngestRequest
    from roamkb.pipeline.observe import ObserveRequest as ObserveRequest
    from roamkb.pipeline.promote import PromoteRequest as PromoteRequest
    from roamkb.pipeline.verify import VerifyRequest as VerifyRequest
    from roamkb.remedies.remedy import RemedyRequest as RemedyRequest
    from roamkb.sharing.bundle import BundleRequest as BundleRequest
    from roamkb.sharing.snapshot import SnapshotRequest as SnapshotRequest
    from roamkb.sharing.template import TemplateRequest as TemplateRequest
    from roamkb.tasks.relevant import RelevantRequest as RelevantRequest
    from roamkb.tasks.stats import StatsRequest as StatsRequest
    from roamkb.tasks.task import TaskRequest as TaskRequest
    from roamkb.tasks.used import UsedRequest as UsedRequest

#: The module that defines each.
_MODULES = {
    "ApproveRequest": "roamkb.instructions.approve",
    "AuditRequest": "roamkb.curation.audit",
    "BriefRequest": "roamkb.context.brief",
    "BundleRequest": "roamkb.sharing.bundle",
    "ClassifyRequest": "roamkb.boundary.classify",
    "ConflictsRequest": "roamkb.kb.conflicts",
    "ConsolidateRequest": "roamkb.pipeline.consolidate",
    "CurateRequest": "roamkb.curation.curate",
    "ExplainRequest": "roamkb.log.explain",
    "ExportRequest": "roamkb.log.export",
    "ExtractRequest": "roamkb.pipeline.extract.model_extraction",
    "HygieneRequest": "roamkb.kb.hygiene",
    "IndexRequest": "roamkb.kb.index_admin",
    "IngestRequest": "roamkb.pipeline.ingest.ingest",
    "InitRequest": "roamkb.log.init",
    "InjectRequest": "roamkb.context.store.injections",
    "InstallRequest": "roamkb.install.requests",
    "JournalRequest": "roamkb.journal.journal",
    "LearnRequest": "roamkb.log.learn",
    "LinksRequest": "roamkb.kb.links",
    "ObserveRequest": "roamkb.pipeline.observe",
    "OverrideRequest": "roamkb.log.pin",
    "PinRequest": "roamkb.log.pin",
    "PreferRequest": "roamkb.log.prefer",
    "PromoteRequest": "roamkb.pipeline.promote",
    "RecallRequest": "roamkb.log.recall",
    "RefineRequest": "roamkb.curation.refine",
    "RejectRequest": "roamkb.instructions.approve",
    "RelevantRequest": "roamkb.tasks.relevant",
    "RemedyRequest": "roamkb.remedies.remedy",
    "RestoreRequest": "roamkb.kb.trash",
    "ReviewRequest": "roamkb.instructions.review",
    "RollbackRequest": "roamkb.instructions.rollback",
    "SearchRequest": "roamkb.kb.search.search",
    "ShowRequest": "roamkb.kb.show",
    "SnapshotRequest": "roamkb.sharing.snapshot",
    "StatsRequest": "roamkb.tasks.stats",
    "SupersedeRequest": "roamkb.kb.supersede",
    "TaskRequest": "roamkb.tasks.task",
    "TemplateRequest": "roamkb.sharing.template",
    "TrashRequest": "roamkb.kb.trash",
    "UndoRequest": "roamkb.log.undo",
    "UninstallRequest": "roamkb.install.requests",
    "UsedRequest": "roamkb.tasks.used",
    "VerifyRequest": "roamkb.pipeline.verify",
    "WriteRequest": "roamkb.kb.write",
}

__getattr__ = lazy_names(globals(), _MODULES)
