"""Drawing a validation set in the browser: only what the design asks for is shown; a double click draws once."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import User
from benchmark.models import ValidationSet
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]


def test_ada_states_a_design_looks_at_it_and_draws_once(page: Page, sign_in: SignIn, ada: User, lea: User) -> None:
    over = factories.dataset(items=3)
    for name in ("Model A", "Model B"):
        factories.run(dataset=over, model=factories.model(name), answered=10, state="complete")
    sign_in(page, ada)
    page.goto("/validation/new/")
    expect(page.locator("[name=per_cell]")).to_be_visible()
    expect(page.locator("[name=total]")).to_be_hidden()
    page.get_by_label("at random over all").check()
    expect(page.locator("[name=per_cell]")).to_be_hidden()
    page.locator("[name=total]").fill("12")
    page.get_by_label("pool:").check()
    page.locator("[name=labels_per_task]").fill("3")
    page.get_by_label("lea").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("others have to join")).to_be_visible()
    assert not ValidationSet.objects.exists()
    page.get_by_role("button", name="Change").click()
    expect(page.locator("[name=total]")).to_have_value("12")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Draw and open").dblclick(no_wait_after=True)
    page.wait_for_url(re.compile(r"/validation/\d+/"))
    row = ValidationSet.objects.get()
    assert (row.design["drawn"], row.label_set.mode, row.label_set.labels_per_task) == (12, "pool", 3)
