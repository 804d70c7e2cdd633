"""Prompts that authors save. A version never changes; what is different is a new one."""

from django.db import IntegrityError, transaction

from annotate.models import User
from fpco_site.errors import Conflict, Invalid
from fpco_site.fields import escape
from fpco_site.llm import prompts
from fpco_site.llm.models import FIRST_SAVED, PromptVersion

LONGEST = 50_000


@transaction.atomic
def save(*, name: str, text: str, note: str, by: User) -> PromptVersion:
    """A new version of a prompt, with a note that says what is different.

    Raises Invalid for a text that is no prompt, Conflict where a version has exactly this text.
    """
    text, note = text.replace("\r\n", "\n").strip(), note.strip()
    if not text:
        raise Invalid("A prompt has text.")
    if len(text) > LONGEST:
        raise Invalid(f"A prompt has at most {LONGEST:,} characters; this one has {len(text):,}.")
    if escape(text) != text or escape(note) != note:
        raise Invalid("The text holds a control character that can't be typed; remove it.")
    if not note:
        raise Invalid("Say in the note what is different in this version.")
    known = prompts.versions(name)
    made = prompts.make(name=name, version=max(prompts.newest(name) + 1, FIRST_SAVED), text=text)
    for version in known:
        if prompts.load(name, version).sha256 == made.sha256:
            raise Conflict(f"This is word for word version {version}, so there is nothing new to save.")
    try:
        with transaction.atomic():
            return PromptVersion.objects.create(
                name=name, version=made.version, text=made.text, sha256=made.sha256, note=note, by=by.get_username()
            )
    except IntegrityError as error:
        raise Conflict("Somebody saved a version meanwhile: look at it, then save yours again.") from error
