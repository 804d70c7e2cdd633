"""Dialogues as work for the engine: claimed one by one, asked turn by turn, depth first."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from django.db import models

from annotate.models import DatasetTurn
from benchmark.models import Dialogue, Response, Run
from benchmark.models.runs import DialogueState, RunState
from benchmark.services import budgets, responses, runs, versions
from benchmark.services.responses import Conversation, Talk
from fpco_site.errors import Invalid
from fpco_site.llm import dialogue, engine, prompts, providers
from fpco_site.llm.engine import Call
from fpco_site.llm.models import Leased
from fpco_site.llm.types import Request


class DialogueWork(engine.LeasedWork[Conversation]):
    """A group is a run."""

    kind = "dialogues"
    model = Dialogue

    def pending(self) -> bool:
        waiting = Dialogue.objects.filter(
            self.here("run__settings__provider"), state=DialogueState.WAITING, run__state=RunState.RUNNING
        )
        return waiting.exists() or Dialogue.objects.filter(state=DialogueState.RUNNING).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Talk]:
        open_runs = self._open_runs(worker).order_by("pk").select_for_update(skip_locked=True)
        wanted = {run: room_of for run in open_runs if (room_of := self._room(run)) > 0}
        given = engine.share(room, {run.pk: room_of for run, room_of in wanted.items()})
        claims: list[Talk] = []
        software = versions.kept() if wanted else 0
        for run in wanted:
            try:
                system = _system(run)
            except Invalid as error:
                runs.pause_by_engine(run=run.pk, reason=f"{error.message} Put the file back, then resume.")
                continue
            token = uuid4()
            ids = self.take(run.dialogues.order_by("pk"), room=given[run.pk], worker=worker, token=token)
            claims += _claims(run, ids, token, system, software)
        return claims

    def open(self, claim: Talk) -> Talk:
        talk = claim.state
        picture = engine.stored_picture(talk.picture_name, talk.mime)
        _ = picture.sha256  # hashed here, and not in the event loop
        return replace(claim, state=replace(talk, picture=picture))

    def request(self, claim: Talk) -> Request:
        talk = claim.state
        asked = talk.questions[: talk.turn]
        return dialogue.request(system=talk.system, questions=asked, answers=talk.answers, picture=talk.picture)

    def ends(self, call: Call[Conversation]) -> bool:
        talk = call.claim.state
        return call.reply is not None and talk.turn >= len(talk.questions)

    def record(self, calls: Sequence[Call[Conversation]]) -> list[Talk | None]:
        return responses.record(calls=calls)

    def open_groups(self, groups: Collection[int]) -> set[int]:
        return set(Run.objects.filter(pk__in=groups, state=RunState.RUNNING).values_list("pk", flat=True))

    def give_back(self, rows: models.QuerySet[Any]) -> int:
        """Dialogues of a stopped run end instead of waiting for nobody."""
        held = rows.filter(state=DialogueState.RUNNING)
        stopped = held.filter(run__state=RunState.STOPPED).update(state=DialogueState.STOPPED, **Leased.FREE)
        return stopped + super().give_back(rows)

    def _open_runs(self, worker: UUID) -> models.QuerySet[Run]:
        """Runs to claim from: for local models one after the other, as a worker holds one model at a time."""
        found = Run.objects.filter(self.here("settings__provider"), state=RunState.RUNNING)
        if self.place != providers.LOCAL:
            return found
        held = Dialogue.objects.filter(state=DialogueState.RUNNING, lease_worker=worker).order_by("pk")
        waiting = found.filter(dialogues__state=DialogueState.WAITING).order_by("pk")
        first = held.values_list("run", flat=True).first() or waiting.values_list("pk", flat=True).first()
        return found.none() if first is None else found.filter(pk=first)

    def _room(self, run: Run) -> int:
        """How many more dialogues of a run may be asked at once; ends or pauses a run that wants none."""
        held = run.dialogues.filter(state=DialogueState.RUNNING).count()
        waiting = self.bounded(run.dialogues.all(), most=run.concurrency - held)
        if not waiting:
            if not held:
                runs.finish(run=run.pk)
            return 0
        allowed = budgets.room(run=run, held=held)
        return waiting if allowed is None else min(waiting, allowed)


def _claims(run: Run, ids: Sequence[int], token: UUID, system: str, software: int) -> Iterable[Talk]:
    """Claims with all that the first request needs."""
    if not ids:
        return
    rows = Dialogue.objects.filter(pk__in=ids).select_related("item__image").order_by("pk")
    questions = _questions([row.item_id for row in rows])
    answers = _answers(ids)
    endpoint = run.endpoint()
    for row in rows:
        image = row.item.image
        talk = Conversation(
            system=system,
            questions=questions[row.item_id],
            answers=answers[row.pk],
            picture_name=image.file.name or "" if image else "",
            mime=image.mime if image else "",
            settings=run.asked_by(),
            software=software,
        )
        yield Talk(id=row.pk, token=token, group=run.pk, endpoint=endpoint, state=talk)


def _questions(items: Collection[int]) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for turn in DatasetTurn.objects.filter(item__in=items).order_by("item", "number"):
        found[turn.item_id].append(turn.asked)
    return {item: tuple(asked) for item, asked in found.items()}


def _answers(dialogues: Collection[int]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = dict.fromkeys(dialogues, ())
    rows = Response.objects.filter(dialogue__in=dialogues).order_by("dialogue", "turn")
    for dialogue_id, text in rows.values_list("dialogue", "text"):
        found[dialogue_id] += (text,)
    return found


def _system(run: Run) -> str:
    """The prompt that the run was made with. Raises Invalid where the file has changed since."""
    prompt = prompts.load(run.prompt_name, int(run.prompt_version))
    if prompt.sha256 != run.prompt_sha256:
        changed = f"{prompt.name}.v{prompt.version}"
        raise Invalid(f"The prompt {changed} is no longer the one that run {run.pk} was made with.")
    return prompt.text
