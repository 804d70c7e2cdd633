"""Facts about people's work; one noun a module."""

from annotate.models.comments import Comment
from annotate.models.datasets import Dataset, DatasetItem, DatasetTurn
from annotate.models.drafts import Draft, DraftCall, Drafter, DraftJob
from annotate.models.duplicates import ImagePair
from annotate.models.edit_drafts import EditDraft
from annotate.models.images import Image
from annotate.models.imports import ImportBatch, ImportedFile
from annotate.models.items import Item, Revision, TakenBack, Turn
from annotate.models.labels import (
    Adjudication,
    Assignment,
    Guideline,
    Label,
    LabelClaim,
    LabelSet,
    LabelTask,
    TaskMark,
)
from annotate.models.people import User
from annotate.models.protocols import Protocol, StudyChange
from annotate.models.reviews import Review, ReviewRules
from annotate.models.variants import VariantCheck, VariantDraw

__all__ = [
    "Adjudication",
    "Assignment",
    "Comment",
    "Dataset",
    "DatasetItem",
    "DatasetTurn",
    "Draft",
    "DraftCall",
    "DraftJob",
    "Drafter",
    "EditDraft",
    "Guideline",
    "Image",
    "ImagePair",
    "ImportBatch",
    "ImportedFile",
    "Item",
    "Label",
    "LabelClaim",
    "LabelSet",
    "LabelTask",
    "Protocol",
    "Review",
    "ReviewRules",
    "Revision",
    "StudyChange",
    "TakenBack",
    "TaskMark",
    "Turn",
    "User",
    "VariantCheck",
    "VariantDraw",
]
