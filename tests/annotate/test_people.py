"""People: signing in, one's own password, and who may change whom."""

import re
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import User
from annotate.models.people import Role
from annotate.services import people, sign_in
from fpco_site.errors import Conflict, Invalid
from tests.factories import PASSWORD

As = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _no_failures_yet() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def enter(client: Client, name: str, password: str = PASSWORD, **more: str) -> int:
    return client.post(reverse("sign_in"), {"username": name, "password": password, **more}).status_code


# Signing in ---------------------------------------------------------------------------------------


def test_a_stranger_is_sent_to_the_sign_in_page(client: Client, db: None) -> None:
    reply = client.get(reverse("people"))
    assert reply.status_code == 302
    assert reply["Location"] == f"{reverse('sign_in')}?next={reverse('people')}"


def test_ada_signs_in_and_out(client: Client, ada: User) -> None:
    assert enter(client, "ada") == 302
    assert client.get(reverse("people")).status_code == 200
    assert client.post(reverse("sign_out")).status_code == 302
    assert client.get(reverse("people")).status_code == 302


def test_signing_out_takes_a_press_and_not_a_link(as_: As, ada: User) -> None:
    assert as_(ada).get(reverse("sign_out")).status_code == 405


def test_a_wrong_password_is_refused_with_one_sentence(client: Client, ada: User) -> None:
    reply = client.post(reverse("sign_in"), {"username": "ada", "password": "wrong"})
    assert reply.status_code == 200
    assert b"correct username and password" in reply.content


def test_the_sign_in_goes_nowhere_else(client: Client, ada: User) -> None:
    reply = client.post(reverse("sign_in"), {"username": "ada", "password": PASSWORD, "next": "https://evil.example/"})
    assert reply["Location"] == reverse("home")


def test_guessing_is_braked_after_ten_failures_even_for_the_right_password(client: Client, ada: User) -> None:
    for _ in range(sign_in.FAILURES):
        assert enter(client, "ada", "guess") == 200
    reply = client.post(reverse("sign_in"), {"username": "ADA", "password": PASSWORD})
    assert b"Too many failed sign-ins" in reply.content
    assert enter(client, "ada") == 200
    assert "_auth_user_id" not in client.session


def test_the_brake_holds_one_name_at_one_address(client: Client, ada: User, ben: User) -> None:
    for _ in range(sign_in.FAILURES):
        enter(client, "ada", "guess")
    assert enter(client, "ben") == 302
    assert enter(Client(REMOTE_ADDR="192.0.2.7"), "ada") == 302


def test_a_sign_in_that_works_forgets_the_failures(client: Client, ada: User) -> None:
    for _ in range(2):
        for _ in range(sign_in.FAILURES - 1):
            enter(client, "ada", "guess")
        assert enter(client, "ada") == 302
        client.logout()


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_saw(rf, settings) -> None:  # type: ignore[no-untyped-def]
    request = rf.get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="1.2.3.4, 203.0.113.9")
    settings.SECURE_PROXY_SSL_HEADER = None
    assert sign_in.address_of(request) == "10.0.0.1"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert sign_in.address_of(request) == "203.0.113.9"


def test_lea_changes_her_password(as_: As, lea: User) -> None:
    client = as_(lea)
    new = "another good long one"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post(reverse("password_change"), form).status_code == 302
    lea.refresh_from_db()
    assert lea.check_password(new)


def test_a_short_password_is_refused_and_the_old_one_stays(as_: As, lea: User) -> None:
    form = {"old_password": PASSWORD, "new_password1": "short1", "new_password2": "short1"}
    assert as_(lea).post(reverse("password_change"), form).status_code == 200
    lea.refresh_from_db()
    assert lea.check_password(PASSWORD)


# The People page, as the wrong person and as the right one ----------------------------------------


def test_only_authors_see_people(as_: As, ada: User, lea: User, rita: User) -> None:
    for path in (reverse("people"), reverse("person_new")):
        assert as_(ada).get(path).status_code == 200
        assert as_(lea).get(path).status_code == 404
        assert as_(rita).get(path).status_code == 404


@pytest.mark.parametrize("name", ["person_deactivate", "person_reactivate", "person_password"])
def test_nobody_but_an_author_changes_people(name: str, as_: As, ada: User, lea: User, rita: User) -> None:
    path = reverse(name, args=[ada.pk])
    for who in (lea, rita):
        assert as_(who).post(path).status_code == 404
    assert Client().post(path).status_code == 302
    before = (ada.password, ada.is_active)
    ada.refresh_from_db()
    assert (ada.password, ada.is_active) == before


@pytest.mark.parametrize("name", ["person_deactivate", "person_reactivate", "person_password"])
def test_looking_changes_nobody(name: str, as_: As, ada: User, lea: User) -> None:
    assert as_(ada).get(reverse(name, args=[lea.pk])).status_code == 405


def test_ada_creates_max_who_signs_in_with_the_password_shown_once(as_: As, ada: User) -> None:
    reply = as_(ada).post(reverse("person_new"), {"username": "max", "role": Role.ANNOTATOR})
    found = re.search(r'<code class="secret">([^<]+)</code>', reply.content.decode())
    assert found
    assert "no-store" in reply["Cache-Control"]
    assert User.objects.get(username="max").role == Role.ANNOTATOR
    assert enter(Client(), "max", found[1]) == 302
    assert found[1].encode() not in as_(ada).get(reverse("people")).content


def test_a_name_is_taken_in_any_spelling_and_what_was_typed_stays(as_: As, ada: User) -> None:
    reply = as_(ada).post(reverse("person_new"), {"username": "Ada", "role": Role.READER})
    assert b"There is already a person called Ada." in reply.content
    assert b'value="Ada"' in reply.content
    assert User.objects.count() == 1


def test_a_new_password_ends_the_old_one_and_the_sessions(as_: As, ada: User, lea: User) -> None:
    hers = as_(lea)
    assert hers.get(reverse("password_change")).status_code == 200
    reply = as_(ada).post(reverse("person_password", args=[lea.pk]))
    found = re.search(r'<code class="secret">([^<]+)</code>', reply.content.decode())
    assert found
    assert hers.get(reverse("password_change")).status_code == 302
    assert enter(Client(), "lea") == 200
    assert enter(Client(), "lea", found[1]) == 302


def test_lea_is_deactivated_and_comes_back(as_: As, ada: User, lea: User) -> None:
    hers = as_(lea)
    assert as_(ada).post(reverse("person_deactivate", args=[lea.pk])).status_code == 302
    assert hers.get(reverse("password_change")).status_code == 302
    assert enter(Client(), "lea") == 200
    assert as_(ada).post(reverse("person_reactivate", args=[lea.pk])).status_code == 302
    assert enter(Client(), "lea") == 302


def test_the_last_active_author_stays(as_: As, ada: User, ben: User) -> None:
    people.deactivate(person=ben, by=ada)
    reply = as_(ada).post(reverse("person_deactivate", args=[ada.pk]))
    assert reply.status_code == 409
    assert b"last active author" in reply.content
    ada.refresh_from_db()
    assert ada.is_active


def test_somebody_deactivated_changes_nobody(ada: User, ben: User, lea: User) -> None:
    people.deactivate(person=ben, by=ada)
    with pytest.raises(Conflict, match="Only an active author"):
        people.deactivate(person=lea, by=ben)


def test_nobody_is_deactivated_twice(ada: User, lea: User) -> None:
    people.deactivate(person=lea, by=ada)
    with pytest.raises(Conflict, match="lea is not active"):
        people.deactivate(person=lea, by=ada)
    people.reactivate(person=lea, by=ada)
    with pytest.raises(Conflict, match="active already"):
        people.reactivate(person=lea, by=ada)


def test_an_imported_annotator_never_signs_in(ada: User) -> None:
    imported = User.objects.create(username="release-H1", role=Role.ANNOTATOR, imported=True, is_active=False)
    for change in (people.reactivate, people.reset_password):
        with pytest.raises(Conflict, match="imported release"):
            change(person=imported, by=ada)


def test_a_role_that_does_not_exist_is_refused(db: None) -> None:
    with pytest.raises(Invalid, match="not a valid choice"):
        people.create(username="max", role="king")
    assert not User.objects.exists()


# The command --------------------------------------------------------------------------------------


def run(*args: str) -> str:
    out = StringIO()
    call_command("create_user", *args, stdout=out)
    return out.getvalue()


def test_the_command_makes_a_password_up_and_prints_it_once(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FPCO_PASSWORD", raising=False)
    said = run("max", "--role", "reader")
    assert enter(Client(), "max", said.rsplit(": ", 1)[1].strip()) == 302


def test_the_command_takes_the_password_from_the_environment_and_keeps_it_to_itself(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FPCO_PASSWORD", "a very private phrase")
    assert "private" not in run("max", "--role", "author")
    assert enter(Client(), "max", "a very private phrase") == 302


@pytest.mark.parametrize(
    ("name", "password", "said"), [("ada", "a very private phrase", "already"), ("max", "1", "too short")]
)
def test_the_command_refuses_in_one_sentence(
    name: str, password: str, said: str, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FPCO_PASSWORD", password)
    with pytest.raises(CommandError, match=said):
        run(name, "--role", "reader")
    assert User.objects.count() == 1
