"""The look: files of others are what they were, and the navigation shows to each what they may open."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from django.views.defaults import server_error

from annotate.models import User
from fpco_site import navigation

As = Callable[[User], Client]

VENDOR = settings.BASE_DIR / "static" / "vendor"
RECORD = json.loads((VENDOR / "vendor.json").read_text())
ENTRIES = [entry for package in RECORD["packages"] for entry in package["files"]] + [RECORD["bundled"]]
FILES = [(entry["path"], entry["sha256"]) for entry in ENTRIES]


def nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


# A site that serves every section, for the tests of the navigation.
urlpatterns = [path(f"{section.url_name}/", nothing, name=section.url_name) for section in navigation.SECTIONS]
every_section = pytest.mark.urls(__name__)


def draw(source: str, **context: object) -> str:
    return engines["django"].from_string("{% load studio %}" + source).render(context)


# Files of others ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "sha256"), FILES)
def test_a_vendored_file_is_what_the_record_says(name: str, sha256: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == sha256


def test_every_vendored_file_is_on_record() -> None:
    kept = {str(file.relative_to(VENDOR)) for file in VENDOR.rglob("*") if file.is_file()}
    assert kept == {name for name, _ in FILES} | {"vendor.json"}


def test_every_vendored_package_keeps_its_licence() -> None:
    for package in RECORD["packages"]:
        assert f"{package['name']}/LICENSE" in [entry["path"] for entry in package["files"]]


def test_the_files_can_be_served_under_hashed_names(tmp_path: Path) -> None:
    storages = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
    }
    with override_settings(STATIC_ROOT=tmp_path, STORAGES=storages):
        call_command("collectstatic", interactive=False, verbosity=0)
    named = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert {f"vendor/{name}" for name, _ in FILES} <= named.keys()


# What the content security policy would refuse ----------------------------------------------------

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: str(file.relative_to(settings.BASE_DIR / "templates")))
def test_a_template_has_nothing_inline_and_trusts_no_text(file: Path) -> None:
    text = file.read_text()
    assert not re.search(r"<[^>]*\sstyle=", text), "an inline style is refused by the policy"
    assert not re.search(r"<[^>]*\son[a-z]+=", text), "an inline handler is refused by the policy"
    assert not re.search(r"<script(?![^>]*(src=|nonce=|type=\"application/json\"))", text), "an inline script"
    assert not re.search(r"\|\s*safe\b|autoescape off", text), "text of models and people is text"


# The navigation -----------------------------------------------------------------------------------


def seen(role: str, at: str = "/", section: str = "") -> list[str]:
    return [link.label for link in navigation.links(role=role, path=at, section=section)]


@every_section
def test_an_annotator_sees_labelling_alone() -> None:
    assert seen("annotator") == ["Label"]


@every_section
def test_a_reader_sees_what_can_be_read() -> None:
    assert seen("reader") == ["Overview", "Datasets", "Models", "Runs", "Agreement", "Results", "Releases"]


@every_section
def test_an_author_sees_all_eleven_in_the_order_of_the_work() -> None:
    assert " ".join(seen("author")) == (
        "Overview Images Review Datasets Models Runs Label Agreement Results Releases People"
    )


@every_section
@pytest.mark.parametrize(
    ("at", "section", "active"),
    [
        ("/run_list/", "", "Runs"),
        ("/run_list/7/dialogues/3/", "", "Runs"),
        ("/detectors/", "model_list", "Models"),
        ("/account/password/", "", None),
    ],
)
def test_the_section_of_a_page_is_marked(at: str, section: str, active: str | None) -> None:
    links = navigation.links(role="author", path=at, section=section)
    assert [link.label for link in links if link.active] == ([active] if active else [])


def test_the_page_carries_the_navigation_of_the_person(as_: As, ada: User, lea: User) -> None:
    for who in (ada, lea):
        page = as_(who).get("/account/password/").content.decode()
        shown = re.findall(r'<span class="side-label">([^<]+)</span></a></li>', page)
        assert shown == seen(who.role)
        assert who.username in page
    assert "People" not in as_(lea).get("/account/password/").content.decode()


# Pages for what went wrong ------------------------------------------------------------------------


def test_what_is_not_there_is_said_in_the_same_look(as_: As, lea: User) -> None:
    reply = as_(lea).get("/no/such/page/")
    assert reply.status_code == 404
    assert b"Nothing here" in reply.content
    assert b"css/app.css" in reply.content


def test_a_broken_server_says_so_without_needing_a_person_or_a_database(rf: RequestFactory) -> None:
    reply = server_error(rf.get("/"))
    assert reply.status_code == 500
    assert b"Something broke" in reply.content


def test_an_old_form_says_that_nothing_was_saved(ada: User) -> None:
    reply = Client(enforce_csrf_checks=True).post("/account/sign-in/", {"username": "ada"})
    assert reply.status_code == 403
    assert b"The form is too old" in reply.content


# Components ---------------------------------------------------------------------------------------


def test_a_state_is_a_word_and_an_icon() -> None:
    drawn = draw("{% state 'in_review' %}")
    assert "in review" in drawn
    assert "icons.svg#half" in drawn


def test_every_state_uses_an_icon_that_exists() -> None:
    from fpco_site.templatetags.studio import STATES

    drawn = set(re.findall(r'id="([^"]+)"', (settings.BASE_DIR / "static/img/icons.svg").read_text()))
    assert {glyph for _, glyph in STATES.values()} <= drawn, "never by colour alone"
    assert {section.icon for section in navigation.SECTIONS} <= drawn


def test_an_undefined_estimate_is_a_dash_with_its_reason_and_never_zero() -> None:
    drawn = draw("{% estimate value n=0 reason='no labelled response' %}", value=None)
    assert "no labelled response" in drawn
    assert "n=0" in drawn
    assert "0.000" not in drawn


def test_an_estimate_of_zero_is_shown_with_its_interval() -> None:
    drawn = draw("{% estimate 0.0 0.0 0.01 360 %}")
    assert "0.000" in drawn
    assert "[0.000, 0.010]" in drawn
    assert "n=360" in drawn


def test_a_stack_says_its_counts_in_words() -> None:
    drawn = draw("{% stack parts 'Turns' %}", parts=[("answered", 3, "good"), ("failed", 1, "bad")])
    assert 'aria-label="Turns: answered 3, failed 1"' in drawn
    assert 'width="75.000"' in drawn


def test_a_form_names_its_errors_and_links_them_to_their_fields() -> None:
    class Question(forms.Form):
        content = forms.CharField(help_text="One sentence.")
        kind = forms.ChoiceField(choices=[("a", "A")])

    drawn = draw("{{ form }}", form=Question({}))
    assert 'class="form-control"' in drawn
    assert 'class="form-select"' in drawn
    assert 'aria-describedby="id_content_helptext id_content_error"' in drawn
    assert {'id="id_content_helptext"', 'id="id_content_error"'} <= set(re.findall(r'id="[^"]+"', drawn))
