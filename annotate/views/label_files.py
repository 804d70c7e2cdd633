"""One's own labels as a file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotate import interchange
from annotate.permissions import annotator_required, person_of
from annotate.services import interchange as files
from annotate.views.labels import get_worklist_for, no_store

TYPES = {"json": "application/json", "csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


@annotator_required
@no_store
@require_safe
def label_export(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """One's own tasks in one's own order, with one's own labels: what the pages show, and nothing else."""
    assignment = get_worklist_for(person_of(request), pk).assignment
    if kind not in interchange.FORMATS:
        raise Http404
    return attachment(files.write(files.own(assignment), kind, label_set=assignment.label_set), kind)


def attachment(text: str, kind: str) -> HttpResponse:
    """A download whose name says nothing of what is in it."""
    return HttpResponse(
        text, content_type=TYPES[kind], headers={"Content-Disposition": f'attachment; filename="labels.{kind}"'}
    )
