"""Facts about machines' work; one noun a module.

Foreign keys to `annotate` have no way back (`related_name="+"`), so that nothing a person labels
can be followed to a model, a run or a verdict.
"""

from benchmark.models.batches import BatchJob, BatchRequest
from benchmark.models.cases import CaseStudy, PinnedDialogue
from benchmark.models.connections import ConnectionCall, ConnectionTest
from benchmark.models.detectors import Detection, DetectionCall, DetectionJob, Detector, DetectorLabel
from benchmark.models.models import EvaluatedModel
from benchmark.models.releases import Release
from benchmark.models.reports import Report
from benchmark.models.responses import Attempt, Response, Software
from benchmark.models.results import Analysis, Pattern, ResultSet, ResultSetDetector, ResultSetRun
from benchmark.models.runs import Dialogue, Run
from benchmark.models.spending import PriceChange, Spending
from benchmark.models.validation import Exposure, Opened, ValidationItem, ValidationSet

__all__ = [
    "Analysis",
    "Attempt",
    "BatchJob",
    "BatchRequest",
    "CaseStudy",
    "ConnectionCall",
    "ConnectionTest",
    "Detection",
    "DetectionCall",
    "DetectionJob",
    "Detector",
    "DetectorLabel",
    "Dialogue",
    "EvaluatedModel",
    "Exposure",
    "Opened",
    "Pattern",
    "PinnedDialogue",
    "PriceChange",
    "Release",
    "Report",
    "Response",
    "ResultSet",
    "ResultSetDetector",
    "ResultSetRun",
    "Run",
    "Software",
    "Spending",
    "ValidationItem",
    "ValidationSet",
]
