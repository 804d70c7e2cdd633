"""Addresses that people or releases wrote."""

from django import template

from annotate import image_csv, licences
from annotate.models.images import ImageFacts

register = template.Library()


@register.filter
def is_web(text: str) -> bool:
    """Whether it may stand in a link: an http or https address, never a script."""
    return image_csv.web_address(text or "")


@register.filter
def licence_note(picture: ImageFacts) -> str:
    """Why a release leaves the pixels of this picture out; blank where it doesn't."""
    return licences.sentence(picture.license, picture.license_url)
