"""Every change to people: create, deactivate, reactivate, delete, a new password."""

import secrets

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, RestrictedError

from annotate.models.people import Role, User
from fpco_site.errors import Conflict, Invalid

# Without letters and digits that are taken for each other when read aloud or copied by hand.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def generate_password() -> str:
    """Four groups of four, about 79 bits."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(4))


def create(*, username: str, role: str, password: str | None = None) -> tuple[User, str]:
    """A new person and their password, which is made up where none is given.

    Raises Invalid where the name is taken (in any spelling of case), the role is unknown or the password is too weak.
    """
    person = User(username=User.normalize_username(username.strip()), role=role)
    if User.objects.filter(username__iexact=person.username).exists():
        raise Invalid(f"There is already a person called {person.username}.")
    secret = generate_password() if password is None else password
    try:
        person.full_clean(exclude=["password"])
        validate_password(secret, person)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    person.set_password(secret)
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:
        raise Invalid(f"There is already a person called {person.username}.") from error
    return person, secret


@transaction.atomic
def deactivate(*, person: User, by: User) -> None:
    """End a person's access; their work stays. The last active author can't be deactivated."""
    # All authors are locked, in one order: two who deactivate each other take turns.
    authors = list(User.objects.select_for_update().filter(role=Role.AUTHOR, is_active=True).order_by("pk"))
    _check_author(by)
    if authors == [person]:
        raise Conflict(f"{person.username} is the last active author and can't be deactivated.")
    if not User.objects.filter(pk=person.pk, is_active=True).update(is_active=False):
        raise Conflict(f"{person.username} is not active.")


@transaction.atomic
def reactivate(*, person: User, by: User) -> None:
    """Give a deactivated person access again."""
    _check_author(by)
    _check_local(person)
    if not User.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
        raise Conflict(f"{person.username} is active already.")


@transaction.atomic
def delete(*, person: User, by: User) -> None:
    """Delete an account that nothing rests on. Whoever labelled, wrote or saw anything can only be deactivated."""
    authors = list(User.objects.select_for_update().filter(role=Role.AUTHOR, is_active=True).order_by("pk"))
    _check_author(by)
    if person == by or authors == [person]:
        raise Conflict("Nobody deletes their own account, nor that of the last active author.")
    try:
        person.delete()
    except (ProtectedError, RestrictedError) as error:
        raise Conflict(
            f"{person.username} has a part in this study, which stays as it is, so the account stays too. "
            "Deactivate it instead."
        ) from error


@transaction.atomic
def reset_password(*, person: User, by: User) -> str:
    """A new password, returned once and kept only as its hash; the person's other sessions end."""
    _check_author(by)
    _check_local(person)
    secret = generate_password()
    person.set_password(secret)
    person.save(update_fields=["password"])
    return secret


def _check_author(by: User) -> None:
    if not User.objects.filter(pk=by.pk, role=Role.AUTHOR, is_active=True).exists():
        raise Conflict("Only an active author can change people.")


def _check_local(person: User) -> None:
    if person.imported:
        raise Conflict(f"{person.username} stands for an annotator of an imported release and can't sign in.")
