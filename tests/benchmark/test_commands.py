"""Commands that work: with a worker, without one, and with one clear sentence where they can't."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Draft, Drafter, DraftJob, User
from annotate.services import draft_jobs, items
from benchmark.management import waiting
from benchmark.models import Detector, DetectorLabel, EvaluatedModel, Response, Run
from benchmark.services import runs
from fpco_site.llm.models import Worker
from tests import factories
from tests.engine import FAST

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]

CATALOGUE = """
[[model]]
name = "Skeptic"
family = "Scripted"
provider = "scripted"
model_id = "skeptic"
concurrency = 3
price_input = 1.25

[[detector]]
slug = "strict"
name = "Strict rules"
provider = "rules"
model_id = "rules"
options = {strictness = "strict"}
"""


@pytest.fixture(autouse=True)
def impatient(settings: object) -> None:
    settings.ENGINE = {**FAST, "look": 0.0}  # type: ignore[attr-defined]


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(CATALOGUE)
    return path


def said(*command: object) -> str:
    out = StringIO()
    call_command(*[str(part) for part in command], stdout=out)
    return out.getvalue()


def test_a_catalogue_is_loaded_and_loaded_again_without_change(catalogue: Path) -> None:
    assert "2 created" in said("load_models", catalogue)
    assert "2 unchanged" in said("load_models", catalogue)
    model = EvaluatedModel.objects.get()
    assert (model.name, model.concurrency, str(model.price_input)) == ("Skeptic", 3, "1.250000")
    detector = Detector.objects.get()
    assert (detector.version, detector.simulated, detector.prompt_name) == (1, True, "detector")


def test_a_drafter_comes_with_the_catalogue_too(catalogue: Path) -> None:
    entry = '[[drafter]]\nname = "Elm"\nprovider = "drafter"\nmodel_id = "elm"\nmax_output_tokens = 900\n'
    catalogue.write_text(entry)
    assert "1 created" in said("load_models", catalogue)
    assert "1 unchanged" in said("load_models", catalogue)
    catalogue.write_text(entry.replace("900", "1200"))
    assert "1 updated" in said("load_models", catalogue)
    assert Drafter.objects.get(name="Elm").endpoint().max_output_tokens == 1200
    catalogue.write_text(entry.replace("max_output_tokens = 900", 'family = "Elm"'))
    assert "1 updated" in said("load_models", catalogue)
    elm = Drafter.objects.get(name="Elm")
    assert (elm.family, elm.max_output_tokens) == ("Elm", 8192)  # 256, the answer's own limit, would cut every draft
    catalogue.write_text(entry)
    said("load_models", catalogue)
    assert Drafter.objects.get(name="Elm").family == "Elm"


def test_a_changed_entry_updates_a_model_and_makes_a_new_version_of_a_detector(catalogue: Path) -> None:
    said("load_models", catalogue)
    catalogue.write_text(CATALOGUE.replace('"strict"}', '"lenient"}').replace("concurrency = 3", "concurrency = 5"))
    assert "1 updated, 1 new detector versions" in said("load_models", catalogue)
    assert EvaluatedModel.objects.get().concurrency == 5
    assert list(Detector.objects.order_by("version").values_list("slug", "version")) == [("strict", 1), ("strict", 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[model]\n", "not valid TOML"),
        (CATALOGUE + '[[model]]\nname = "Half"\n', "Half"),
        (CATALOGUE.replace('"rules"\nmodel_id', '"oracle"\nmodel_id'), "oracle"),
    ],
)
def test_a_bad_catalogue_says_what_is_wrong_and_loads_nothing(catalogue: Path, text: str, words: str) -> None:
    catalogue.write_text(text)
    with pytest.raises(CommandError, match=words):
        said("load_models", catalogue)
    assert not EvaluatedModel.objects.exists()


def test_a_catalogue_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match=r"nowhere\.toml can't be read"):
        said("load_models", "nowhere.toml")


def test_run_and_detect_work_by_themselves_where_no_worker_lives(catalogue: Path) -> None:
    data = factories.dataset("demo", items=2)
    said("load_models", catalogue)
    assert "complete" in said("run", "Skeptic", "demo", "--concurrency", 2, "--wait")
    run = Run.objects.get()
    assert (run.state, run.concurrency, run.dataset) == ("complete", 2, data)
    assert Response.objects.count() == 20
    assert "Every answer has its label" in said("detect", "strict", "demo", "--wait")
    assert DetectorLabel.objects.count() == 20
    assert not Worker.objects.filter(stopped_at__isnull=True).exists()


def test_without_wait_a_command_only_asks_for_the_work(catalogue: Path) -> None:
    factories.dataset("demo")
    said("load_models", catalogue)
    assert "running" in said("run", "Skeptic", "demo")
    assert not Response.objects.exists()
    with pytest.raises(CommandError, match="already has an open run"):
        said("run", "Skeptic", "demo")


def test_a_command_that_was_ended_goes_on_where_it_was(catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    factories.dataset("demo", items=2)
    said("load_models", catalogue)

    def interrupt(title: str, look: object, *, asked: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(waiting, "wait", interrupt)
        with pytest.raises(CommandError, match="the same command goes on"):
            said("run", "Skeptic", "demo", "--wait")
    said("run", "Skeptic", "demo", "--wait")
    assert Run.objects.get().state == "complete"


def test_a_paused_run_is_no_success(catalogue: Path, ada: User) -> None:
    factories.dataset("demo")
    said("load_models", catalogue)
    EvaluatedModel.objects.update(options={"turn_faults": {"1": "permanent"}})
    with pytest.raises(CommandError, match=r"Run \d+ is paused\. The scripted model was told to fail here"):
        said("run", "Skeptic", "demo", "--wait")
    with pytest.raises(CommandError, match="is incomplete: 1 dialogues are not complete"):
        said("run", "Skeptic", "demo", "--wait")


def test_a_run_that_ends_without_a_turn_is_no_success(catalogue: Path, ada: User) -> None:
    factories.dataset("demo")
    said("load_models", catalogue)
    EvaluatedModel.objects.update(options={"turn_faults": {"3": "permanent"}})
    with pytest.raises(CommandError, match="is incomplete: 1 dialogues are not complete"):
        said("run", "Skeptic", "demo", "--wait")
    assert Response.objects.count() == 2


def test_detecting_waits_for_no_paused_run(catalogue: Path, ada: User) -> None:
    data = factories.dataset("demo")
    said("load_models", catalogue)
    run = runs.start(run=runs.create(model=EvaluatedModel.objects.get(), dataset=data, by=ada), by=ada)
    runs.pause(run=run, by=ada)
    with pytest.raises(CommandError, match="of Skeptic is paused"):
        said("detect", "strict", "demo", "--wait")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("run", "Nobody", "demo"), "no model named 'Nobody'; there are: Skeptic"),
        (("run", "Skeptic", "nothing"), "no dataset named 'nothing'; there are: demo"),
        (("detect", "nobody", "demo"), "no detector 'nobody'; there are: strict"),
        (("detect", "strict@7", "demo"), "no detector 'strict@7'"),
        (("detect", "strict", "demo"), "run a model first"),
        (("run", "Skeptic", "demo", "--concurrency", "0"), "1 to 1,024 dialogues"),
    ],
)
def test_a_name_that_nobody_has_is_answered_with_those_that_there_are(
    catalogue: Path, command: tuple[str, ...], words: str
) -> None:
    factories.dataset("demo")
    said("load_models", catalogue)
    with pytest.raises(CommandError, match=words):
        said(*command)


def test_draft_works_by_itself_where_no_worker_lives_and_is_over_when_nothing_waits(ada: User) -> None:
    image = factories.image(target="cat")
    items.place(image=image, cell=("single_clean", "animal", "identity"), by=ada)
    assert "2 drafts are ready; 2 calls, cost $0.00." in said("draft", "--all", "--wait")
    assert set(Draft.objects.values_list("kind", "state")) == {("questions", "ready"), ("premise", "ready")}
    assert "Nothing waits" in said("draft", "--all", "--wait")
    assert "running" in said("draft", "--item", image.sha256[:12], "--kind", "questions")


def test_draft_goes_on_with_what_was_stopped_and_says_why_it_can_not(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items.place(image=factories.image(target="cat"), cell=("single_clean", "animal", "identity"), by=ada)
    said("draft", "--cell", "single_clean/animal/identity")
    draft_jobs.stop(job=DraftJob.objects.get(), by=ada)
    assert "2 drafts are ready" in said("draft", "--cell", "single_clean/animal/identity", "--wait")
    assert DraftJob.objects.count() == 1
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Drafter.objects.create(name="GPT", provider="openai", model_id="gpt")
    items.place(image=factories.image(target="dog"), cell=("single_clean", "animal", "identity"), by=ada)
    for words, why in (
        (["--all", "--drafter", "GPT"], "OPENAI_API_KEY is not set"),
        (["--all", "--drafter", "Nobody"], "no drafter named 'Nobody'; there are: "),
        (["--item", "nothing"], "no item 'nothing'"),
        (["--cell", "cats"], "A cell is named as"),
        (["--all", "--alternatives", "9"], "One, two or three"),
    ):
        with pytest.raises(CommandError, match=why):
            said("draft", *words)
