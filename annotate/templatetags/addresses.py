"""Addresses that people or releases wrote."""

from django import template

from annotate import image_csv

register = template.Library()


@register.filter
def is_web(text: str) -> bool:
    """Whether it may stand in a link: an http or https address, never a script."""
    return image_csv.web_address(text or "")
