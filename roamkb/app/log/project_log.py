"""The log of one project, as the library and every interface use it."""

from roamkb.app import requests
from roamkb.app.log import verbs
from roamkb.app.log.project_context import ProjectContext
from roamkb.app.operation_method import OperationMethod


class ProjectLog(ProjectContext):
    """Learnings of the current project's agents, in the project's own tree."""

    init = OperationMethod(lambda: (requests.InitRequest, verbs.init))
    learn = OperationMethod(lambda: (requests.LearnRequest, verbs.learn))
    extract = OperationMethod(lambda: (requests.ExtractRequest, verbs.extract))
    observe = OperationMethod(lambda: (requests.ObserveRequest, verbs.observe))
    consolidate = OperationMethod(lambda: (requests.ConsolidateRequest, verbs.consolidate))
    verify = OperationMethod(lambda: (requests.VerifyRequest, verbs.verify))
    promote = OperationMethod(lambda: (requests.PromoteRequest, verbs.promote))
    recall = OperationMethod(lambda: (requests.RecallRequest, verbs.recall))
    ingest = OperationMethod(lambda: (requests.IngestRequest, verbs.ingest))
    template = OperationMethod(lambda: (requests.TemplateRequest, verbs.template))
    bundle = OperationMethod(lambda: (requests.BundleRequest, verbs.bundle))
    snapshot = OperationMethod(lambda: (requests.SnapshotRequest, verbs.snapshot))
    audit = OperationMethod(lambda: (requests.AuditRequest, verbs.audit))
    refine = OperationMethod(lambda: (requests.RefineRequest, verbs.refine))
    curate = OperationMethod(lambda: (requests.CurateRequest, verbs.curate))
    review = OperationMethod(lambda: (requests.ReviewRequest, verbs.review))
    approve = OperationMethod(lambda: (requests.ApproveRequest, verbs.approve))
    reject = OperationMethod(lambda: (requests.RejectRequest, verbs.reject))
    rollback = OperationMethod(lambda: (requests.RollbackRequest, verbs.rollback))
    explain = OperationMethod(lambda: (requests.ExplainRequest, verbs.explain))
    pin = OperationMethod(lambda: (requests.PinRequest, verbs.pin))
    prefer = OperationMethod(lambda: (requests.PreferRequest, verbs.prefer))
    undo = OperationMethod(lambda: (requests.UndoRequest, verbs.undo))
    override = OperationMethod(lambda: (requests.OverrideRequest, verbs.override))
    export = OperationMethod(lambda: (requests.ExportRequest, verbs.export))
    task = OperationMethod(lambda: (requests.TaskRequest, verbs.task))
    relevant = OperationMethod(lambda: (requests.RelevantRequest, verbs.relevant))
    used = OperationMethod(lambda: (requests.UsedRequest, verbs.used))
    remedy = OperationMethod(lambda: (requests.RemedyRequest, verbs.remedy))
    stats = OperationMethod(lambda: (requests.StatsRequest, verbs.stats))
    brief = OperationMethod(lambda: (requests.BriefRequest, verbs.brief))
    inject = OperationMethod(lambda: (requests.InjectRequest, verbs.inject))
