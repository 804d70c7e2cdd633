"""Pages as they are sent: what no encoding and no browser can carry is shown as the replacement character."""

import re
from typing import Any

from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template
from django.utils.safestring import SafeString, mark_safe

# Half a surrogate pair is no character and has no bytes in UTF-8; HTML knows no NUL.
_UNSHOWABLE = re.compile("[\x00\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Templates(DjangoTemplates):
    """Django's templates, whose text can always be sent. What is stored stays as it was written."""

    def get_template(self, template_name: str) -> "ShowableTemplate":
        return ShowableTemplate(super().get_template(template_name).template, self)

    def from_string(self, template_code: str) -> "ShowableTemplate":
        return ShowableTemplate(super().from_string(template_code).template, self)


class ShowableTemplate(Template):
    """A template that renders only what UTF-8 and HTML can hold."""

    def render(self, context: dict[Any, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        # Safe as it was: only characters that mean nothing in HTML are replaced.
        return mark_safe(_UNSHOWABLE.sub(REPLACEMENT, super().render(context, request)))
