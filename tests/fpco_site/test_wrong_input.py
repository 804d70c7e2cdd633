"""Whatever an address or a form holds, the answer is a page with a sentence, never a failure of the server."""

import re
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotate.models import Dataset, User
from benchmark.models import EvaluatedModel, Release
from fpco_site.forms import whole_number
from tests import factories

pytestmark = pytest.mark.db
SignedIn = Callable[[User], Client]
HUGE = "99999999999999999999"
_NUMBER = re.compile(r"<int:\w+>")


def numbered(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    """Every address of the site that carries numbers alone, with numbers that no database knows."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from numbered(pattern.url_patterns, route)
        elif _NUMBER.search(route) and "<" not in (filled := _NUMBER.sub(HUGE, route)):
            yield filled


@pytest.mark.parametrize("who", ["ada", "lea", "rita"])
@pytest.mark.parametrize("method", ["get", "post", "patch"])
def test_a_number_beyond_the_databases_is_not_found(
    who: str, method: str, request: pytest.FixtureRequest, as_: SignedIn, db: None
) -> None:
    client = as_(request.getfixturevalue(who))
    found = list(numbered(get_resolver().url_patterns))
    assert len(found) > 40
    statuses = {url: getattr(client, method)(url).status_code for url in found}
    assert {url for url, status in statuses.items() if status not in {404, 405}} == set()


def test_a_number_beyond_the_databases_under_a_known_dataset_is_not_found(ada: User, as_: SignedIn) -> None:
    dataset = factories.dataset()
    assert as_(ada).get(f"/datasets/{dataset.pk}/items/{HUGE}/").status_code == 404
    assert as_(ada).get(f"/datasets/{HUGE}/items/{dataset.items.get().pk}/").status_code == 404


@pytest.mark.parametrize("url", ["/review/%00/", "/images/?q=%00", "/review/?q=a%00b", "/runs/?state=%00"])
def test_an_address_with_nul_is_not_found(url: str, ada: User, as_: SignedIn) -> None:
    assert as_(ada).get(url).status_code == 404


@pytest.mark.parametrize(
    ("url", "field"), [("/variants/checks/", "checkers"), ("/runs/new/", "models"), ("/validation/new/", "annotators")]
)
def test_an_id_beyond_the_databases_is_no_choice(url: str, field: str, ada: User, as_: SignedIn) -> None:
    assert as_(ada).post(url, {field: [HUGE]}).status_code in {200, 400}


@pytest.mark.parametrize("text", ["", "²", "٣", "-1", "x", "1.5", "9" * 5000, "1" * 19])
def test_what_is_not_a_plain_number_is_none(text: str) -> None:
    assert whole_number(text) is None


def test_a_plain_number_is_itself() -> None:
    assert whole_number("012") == 12


@pytest.mark.parametrize("text", ["²", HUGE, "9" * 5000, "x"])
def test_a_choice_that_is_no_number_is_refused(text: str, ada: User, as_: SignedIn) -> None:
    item, client = factories.item(target="a dog"), as_(ada)
    assert client.get("/runs/new/", {"dataset": text}).status_code == 200
    assert client.post("/releases/new/", {"dataset": text}).status_code == 404
    assert client.post(f"/review/{item.key}/drafts/", {"drafter": text, "kind": "nothing"}).status_code in {400, 404}
    assert not Release.objects.exists()


@pytest.mark.parametrize("options", ['{"a": NaN}', '{"a": 1e999}', r'{"a": "\ud800"}', r'{"a": "\u0000"}'])
def test_options_that_a_database_cannot_store_are_refused(options: str, ada: User, as_: SignedIn) -> None:
    given = {"name": "M", "provider": "scripted", "model_id": "x", "max_output_tokens": 9, "concurrency": 1}
    client = as_(ada)
    assert client.post("/models/new/", {**given, "options": options}).status_code == 200
    body = f'{{"name": "M", "provider": "scripted", "model_id": "x", "options": {options}}}'
    assert client.post("/api/v1/models/", body, content_type="application/json").status_code == 400
    assert not EvaluatedModel.objects.exists()


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_temperature_is_a_plain_number(number: str, ada: User, as_: SignedIn) -> None:
    body = {"name": "M", "provider": "scripted", "model_id": "x", "temperature": number}
    reply = as_(ada).post("/api/v1/models/", body, content_type="application/json")
    assert reply.status_code == 400
    text = f'[[model]]\nname = "M"\nprovider = "scripted"\nmodel_id = "x"\ntemperature = {number}\n'
    assert as_(ada).post("/models/load/", {"text": text}).status_code == 200
    assert not EvaluatedModel.objects.exists()


def test_a_dataset_whose_name_no_folder_can_have_is_not_frozen(ada: User, as_: SignedIn) -> None:
    factories.item(state="approved")
    reply = as_(ada).post("/datasets/freeze/", {"name": "🦊" * 60})
    assert "too long for a folder" in reply.text
    assert not Dataset.objects.exists()


def test_a_form_sent_while_signed_out_leads_back_to_its_page(client: Client) -> None:
    sent = client.post("/review/abc/decide/", headers={"referer": "http://testserver/review/abc/?state=draft"})
    assert sent["Location"] == "/account/sign-in/?next=/review/abc/%3Fstate%3Ddraft"
    strange = client.post("/review/abc/decide/", headers={"referer": "https://elsewhere.example/trap/"})
    assert strange["Location"] == "/account/sign-in/?next=/"
