"""Django's own pages for errors, which only debugging shows."""

from django.utils.safestring import SafeString, mark_safe
from django.views.debug import ExceptionReporter

from fpco_site import keys


class Reporter(ExceptionReporter):
    """Django's page for errors in debugging: it shows variables, so a known key is taken out of the whole page."""

    def get_traceback_html(self) -> SafeString:
        return mark_safe(keys.scrub_known(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return mark_safe(keys.scrub_known(super().get_traceback_text()))
