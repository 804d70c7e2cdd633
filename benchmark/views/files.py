"""Text as a download."""

from django.http import HttpResponse

TYPES = {"csv": "text/csv", "tex": "application/x-tex", "md": "text/markdown"}


def as_file(text: str, name: str) -> HttpResponse:
    """A download of this name, whose ending tells the type."""
    kind = TYPES[name.rpartition(".")[2]]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)
