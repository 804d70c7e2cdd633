"""The demo makes its people once, and removes nothing but its own folder."""

import pytest

from annotate.models import User
from benchmark.services import demo, demo_house
from fpco_site.errors import Conflict


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


@pytest.fixture
def loads(monkeypatch):
    """The loads of the study, which has tests of its own."""
    calls = []
    monkeypatch.setattr(demo, "load", lambda *, people, progress: calls.append(sorted(people)))
    return calls


@pytest.mark.django_db
def test_the_five_people_can_sign_in_with_the_printed_password(loads, client):
    demo_house.load()
    for name, role, _ in demo_house.PEOPLE:
        assert client.login(username=name, password=demo_house.password())
        assert User.objects.get(username=name).role == role
    assert loads == [["ada", "ben", "lea", "lou", "rita"]]


@pytest.mark.django_db
def test_a_password_that_ada_changed_stays_hers(loads):
    demo_house.load()
    ada = User.objects.get(username="ada")
    ada.set_password("another one of hers")
    ada.save()
    demo_house.load()
    assert User.objects.get(username="ada").check_password("another one of hers")


@pytest.mark.django_db
def test_a_database_with_somebody_elses_study_is_refused(loads, ada):
    with pytest.raises(Conflict, match="already holds a study"):
        demo_house.load()
    assert loads == []


@pytest.mark.django_db
def test_a_load_that_broke_off_counts_as_unfinished_until_the_next_ends_it(monkeypatch):
    def break_off(**_):
        raise Conflict("broken off")

    monkeypatch.setattr(demo, "load", break_off)
    with pytest.raises(Conflict, match="broken off"):
        demo_house.load()
    assert demo_house.is_unfinished()
    assert not demo_house.is_loaded()

    monkeypatch.setattr(demo, "load", lambda **_: None)
    demo_house.load()
    assert demo_house.is_loaded()


@pytest.fixture
def database(monkeypatch, folder):
    """A SQLite file in the demo's folder, in place of the tests' own database."""

    class Connection:
        vendor = "sqlite"
        settings_dict = {"NAME": str(folder / "fpco.sqlite3")}

        def close(self) -> None: ...

    monkeypatch.setattr(demo_house, "connection", Connection())
    path = folder / "fpco.sqlite3"
    path.write_text("rows")
    (folder / "media").mkdir()
    (folder / "media" / "picture.jpg").write_text("picture")
    return path


def test_a_reset_removes_database_and_pictures_of_the_demo(database, folder):
    (folder / "demo").write_text(demo_house.LOADED)
    demo_house.remove()
    assert not database.exists()
    assert not (folder / "media").exists()


def test_a_reset_of_a_folder_that_is_not_the_demos_removes_nothing(database, folder):
    with pytest.raises(Conflict, match="is not the demo's"):
        demo_house.remove()
    assert database.exists()
    assert (folder / "media" / "picture.jpg").exists()


def test_a_reset_never_touches_a_database_elsewhere(database, settings, tmp_path_factory, folder):
    (folder / "demo").write_text(demo_house.LOADED)
    settings.DATA_DIR = tmp_path_factory.mktemp("other")
    with pytest.raises(Conflict, match="DATABASE_URL names another"):
        demo_house.remove()
    assert database.exists()
