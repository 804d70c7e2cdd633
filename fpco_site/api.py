"""The API's router and the way errors become replies."""

from typing import Any

from django.urls import path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import exception_handler

from annotate.api.datasets import DatasetViewSet
from annotate.api.images import ImageViewSet
from annotate.api.items import ItemViewSet
from annotate.api.labels import LabelSetViewSet, LabelTaskViewSet
from benchmark.api.adjudication import AdjudicationViewSet
from benchmark.api.agreement import DetectorAgreementViewSet, ValidationSetViewSet
from benchmark.api.analyses import AnalysisViewSet
from benchmark.api.cases import CaseViewSet
from benchmark.api.connections import ConnectionViewSet
from benchmark.api.costs import CostViewSet, EstimateViewSet
from benchmark.api.dialogues import DialogueViewSet
from benchmark.api.figures import FigureViewSet
from benchmark.api.leaderboard import LeaderboardViewSet
from benchmark.api.models import DetectorViewSet, ModelViewSet
from benchmark.api.reports import ReportViewSet
from benchmark.api.results import ReleaseViewSet, ResultViewSet
from benchmark.api.runs import RunViewSet
from fpco_site.middleware import refusal

router = SimpleRouter(use_regex_path=False)
router.register("images", ImageViewSet, basename="api_image")
router.register("items", ItemViewSet, basename="api_item")
router.register("datasets", DatasetViewSet, basename="api_dataset")
router.register("label-sets", LabelSetViewSet, basename="api_label_set")
router.register("label-tasks", LabelTaskViewSet, basename="api_label_task")
router.register("adjudications", AdjudicationViewSet, basename="api_adjudication")
router.register("models", ModelViewSet, basename="api_model")
router.register("connections", ConnectionViewSet, basename="api_connection")
router.register("detectors", DetectorViewSet, basename="api_detector")
router.register("runs", RunViewSet, basename="api_run")
router.register("costs", CostViewSet, basename="api_cost")
router.register("estimates", EstimateViewSet, basename="api_estimate")
router.register("dialogues", DialogueViewSet, basename="api_dialogue")
router.register("results", ResultViewSet, basename="api_result")
router.register("analyses", AnalysisViewSet, basename="api_analysis")
router.register("leaderboard", LeaderboardViewSet, basename="api_leaderboard")
router.register("figures", FigureViewSet, basename="api_figure")
router.register("case-studies", CaseViewSet, basename="api_case")
router.register("reports", ReportViewSet, basename="api_report")
router.register("releases", ReleaseViewSet, basename="api_release")
router.register("validation-sets", ValidationSetViewSet, basename="api_validation_set")
router.register("detector-agreement", DetectorAgreementViewSet, basename="api_detector_agreement")


def handle_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """Our own errors answer with their sentence and status; all others as DRF does."""
    refused = refusal(error)
    if refused is not None:
        return Response({"detail": refused.message}, status=refused.status)
    return exception_handler(error, context)


urlpatterns = [path("schema/", SpectacularAPIView.as_view(), name="api_schema"), *router.urls]
