"""The log of one project, as the library and every interface use it."""

from roamkb.app.log import brief as app_brief
from roamkb.app.log import curation
from roamkb.app.log import extraction
from roamkb.app.log import ingest as app_ingest
from roamkb.app.log import init as app_init
from roamkb.app.log import instructions
from roamkb.app.log import learn as app_learn
from roamkb.app.log import pipeline
from roamkb.app.log import recall as app_recall
from roamkb.app.log import remedies
from roamkb.app.log import sharing
from roamkb.app.log import tasks
from roamkb.app.log import trust as app_trust
from roamkb.app.log.project_context import ProjectContext
from roamkb.app.operation_method import OperationMethod
from roamkb.context import brief as context_brief
from roamkb.context import shown as context_shown
from roamkb.curation import audit as curation_audit
from roamkb.curation import curate as curate_verb
from roamkb.curation import refine as curation_refine
from roamkb.instructions import approve as instructions_approve
from roamkb.instructions import review as instructions_review
from roamkb.instructions import rollback as instructions_rollback
from roamkb.log import explain as log_explain
from roamkb.log import export as log_export
from roamkb.log import init as log_init
from roamkb.log import learn as log_learn
from roamkb.log import pin as log_pin
from roamkb.log import recall as log_recall
from roamkb.log import undo as log_undo
from roamkb.log.share import share as log_share
from roamkb.log.trust import trust as log_trust
from roamkb.pipeline import consolidate as pipeline_consolidate
from roamkb.pipeline import observe as pipeline_observe
from roamkb.pipeline import promote as pipeline_promote
from roamkb.pipeline import verify as pipeline_verify
from roamkb.pipeline.extract import model_extraction
from roamkb.pipeline.ingest import ingest as pipeline_ingest
from roamkb.remedies import remedy as remedy_verb
from roamkb.sharing import bundle as sharing_bundle
from roamkb.sharing import forget as sharing_forget
from roamkb.sharing import snapshot as sharing_snapshot
from roamkb.sharing import template as sharing_template
from roamkb.tasks import relevant as tasks_relevant
from roamkb.tasks import stats as tasks_stats
from roamkb.tasks import task as task_verb
from roamkb.tasks import used as tasks_used


class ProjectLog(ProjectContext):
    """Learnings of the current project's agents, in the project's own tree."""

    init = OperationMethod(lambda: (log_init.InitRequest, app_init.init))
    learn = OperationMethod(lambda: (log_learn.LearnRequest, app_learn.learn))
    extract = OperationMethod(lambda: (model_extraction.ExtractRequest, extraction.extract))
    observe = OperationMethod(lambda: (pipeline_observe.ObserveRequest, pipeline.observe))
    consolidate = OperationMethod(lambda: (pipeline_consolidate.ConsolidateRequest, pipeline.consolidate))
    verify = OperationMethod(lambda: (pipeline_verify.VerifyRequest, pipeline.verify))
    promote = OperationMethod(lambda: (pipeline_promote.PromoteRequest, pipeline.promote))
    recall = OperationMethod(lambda: (log_recall.RecallRequest, app_recall.recall))
    ingest = OperationMethod(lambda: (pipeline_ingest.IngestRequest, app_ingest.ingest))
    template = OperationMethod(lambda: (sharing_template.TemplateRequest, sharing.template))
    bundle = OperationMethod(lambda: (sharing_bundle.BundleRequest, sharing.bundle))
    snapshot = OperationMethod(lambda: (sharing_snapshot.SnapshotRequest, sharing.snapshot))
    forget = OperationMethod(lambda: (sharing_forget.ForgetRequest, sharing.forget))
    share = OperationMethod(lambda: (log_share.ShareRequest, sharing.share))
    trust = OperationMethod(lambda: (log_trust.TrustRequest, app_trust.trust))
    audit = OperationMethod(lambda: (curation_audit.AuditRequest, curation.audit))
    refine = OperationMethod(lambda: (curation_refine.RefineRequest, curation.refine))
    curate = OperationMethod(lambda: (curate_verb.CurateRequest, curation.curate))
    review = OperationMethod(lambda: (instructions_review.ReviewRequest, instructions.review))
    approve = OperationMethod(lambda: (instructions_approve.ApproveRequest, instructions_approve.approve))
    reject = OperationMethod(lambda: (instructions_approve.RejectRequest, instructions_approve.reject))
    rollback = OperationMethod(lambda: (instructions_rollback.RollbackRequest, instructions_rollback.rollback))
    explain = OperationMethod(lambda: (log_explain.ExplainRequest, curation.explain))
    pin = OperationMethod(lambda: (log_pin.PinRequest, log_pin.pin))
    prefer = OperationMethod(lambda: (log_pin.PreferRequest, log_pin.prefer))
    undo = OperationMethod(lambda: (log_undo.UndoRequest, log_undo.undo))
    override = OperationMethod(lambda: (log_pin.OverrideRequest, log_pin.override))
    export = OperationMethod(lambda: (log_export.ExportRequest, log_export.export))
    task = OperationMethod(lambda: (task_verb.TaskRequest, tasks.task))
    relevant = OperationMethod(lambda: (tasks_relevant.RelevantRequest, tasks.relevant))
    used = OperationMethod(lambda: (tasks_used.UsedRequest, tasks_used.used))
    remedy = OperationMethod(lambda: (remedy_verb.RemedyRequest, remedies.remedy))
    stats = OperationMethod(lambda: (tasks_stats.StatsRequest, tasks.stats))
    brief = OperationMethod(lambda: (context_brief.BriefRequest, app_brief.brief))
    inject = OperationMethod(lambda: (context_shown.InjectRequest, app_brief.inject))
    shown = OperationMethod(lambda: (context_shown.ShownRequest, tasks.shown))
