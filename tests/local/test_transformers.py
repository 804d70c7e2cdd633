"""Local models, through the real code path: a checkpoint in a folder, its processor, its chat template."""

import asyncio
import json
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from conftest import ask, picture, provider, request
from PIL import Image

from fpco_site.errors import Invalid
from fpco_site.llm.providers import _local_model
from fpco_site.llm.providers.transformers import HOUSE
from fpco_site.llm.types import ErrorKind, Outcome, Picture, ProviderError, Reply, Request

RED, BLUE = picture("red"), picture("blue", (40, 90))
SHORT = request("What is it?", about=RED)
LONG = request("What do you see there, left of the tree?", "A red car.", "Is it really red?", about=RED)
OTHER = request("What is it?", about=BLUE)


def told(end: Reply | BaseException) -> dict[str, Any]:
    """What is on record of a reply."""
    assert isinstance(end, Reply), end
    return dict(json.loads(end.raw))


def ids(*ends: Reply | BaseException) -> list[list[int]]:
    return [told(end)["ids"] for end in ends]


def test_a_batch_brings_what_each_conversation_brings_alone_and_by_the_book(checkpoint: str) -> None:
    together = ask(provider(checkpoint), LONG, SHORT, OTHER)
    assert [told(end)["batch"] for end in together] == [3, 3, 3]
    assert ids(*together) == [by_the_book(checkpoint, one) for one in (LONG, SHORT, OTHER)]
    # The picture and the history make a difference, so all three answers do.
    assert len({tuple(one) for one in ids(*together)}) == 3


def test_a_cut_answer_is_marked_and_the_prompt_is_no_part_of_it(checkpoint: str) -> None:
    end = ask(provider(checkpoint, cap=5), SHORT)[0]
    assert isinstance(end, Reply)
    assert (end.outcome, end.finish_reason, end.usage.output) == (Outcome.CUT, "length", 5)
    assert end.text is not None
    assert "What is it?" not in end.text
    facts = told(end)
    assert "What is it?" in facts["prompt"]
    assert "Be brief." in facts["prompt"]
    assert facts["do_sample"] is False  # though the checkpoint's own settings ask for sampling
    assert end.model == checkpoint


def test_an_answer_that_ends_by_itself_is_whole_and_shows_no_special_token(
    llava: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = ids(*ask(provider(llava), SHORT))[0]
    # Weights are random: a model may say a token twice, and ends at the first.
    token = spoken[3]
    end_here(monkeypatch, token)
    end, longer = ask(provider(llava), SHORT, LONG)
    assert isinstance(end, Reply)
    said = spoken.index(token) + 1
    assert (end.outcome, end.finish_reason, end.usage.output) == (Outcome.ANSWERED, "stop", said)
    assert told(end)["ids"][-1] == token
    assert token not in told(longer)["ids"][:-1]


def test_an_answer_without_text_is_empty(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = transformers.AutoTokenizer.from_pretrained(llava)
    monkeypatch.setattr(_local_model.Model, "_ends", lambda self: set(range(len(words))))
    blank = words.convert_tokens_to_ids("<|im_start|>")
    monkeypatch.setattr(transformers.GenerationMixin, "generate", saying(blank, wraps=None))
    end = ask(provider(llava), SHORT)[0]
    assert isinstance(end, Reply)
    assert (end.outcome, end.text) == (Outcome.EMPTY, None)
    assert end.reason == "The model ended without text."


def test_usage_counts_the_prompt_without_padding(llava: str) -> None:
    long, short = ask(provider(llava), LONG, SHORT)
    assert isinstance(long, Reply)
    assert isinstance(short, Reply)
    assert (long.usage.input or 0) > (short.usage.input or 0)
    single = ask(provider(llava), SHORT)[0]
    assert isinstance(single, Reply)
    assert single.usage.input == short.usage.input


def test_requests_with_and_without_a_picture_wait_together_and_are_answered(llava: str) -> None:
    plain = request("Are you there?")
    with_picture, without = ask(provider(llava), SHORT, plain)
    assert told(with_picture)["batch"] == told(without)["batch"] == 1
    assert ids(without) == ids(*ask(provider(llava), plain))


def test_a_picture_that_is_none_spoils_nobody_elses_answer(llava: str) -> None:
    bad = request("What is it?", about=Picture(b"no picture"))
    first, refused, last = ask(provider(llava), SHORT, bad, OTHER)
    assert isinstance(refused, ProviderError)
    assert (refused.kind, refused.message) == (ErrorKind.PERMANENT, "The stored picture can't be read as one.")
    assert ids(first, last) == ids(*ask(provider(llava, batch=1), SHORT, OTHER))


def test_a_batch_that_does_not_fit_is_halved_until_it_does(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ids(*ask(provider(llava), SHORT, LONG, OTHER, SHORT))
    sizes = room_for(monkeypatch, 1)
    halves = ask(provider(llava), SHORT, LONG, OTHER, SHORT)
    assert ids(*halves) == whole
    assert sizes == [4, 2, 1, 1, 2, 1, 1]
    assert [told(end)["batch"] for end in halves] == [1] * 4


def test_a_request_that_fits_nowhere_is_told_so(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room_for(monkeypatch, 0)
    end = ask(provider(llava), SHORT)[0]
    assert isinstance(end, ProviderError)
    assert end.kind is ErrorKind.PERMANENT
    assert "does not fit into the memory of cpu" in end.message


def test_a_template_that_drops_the_system_prompt_is_refused_unless_the_option_says_where_it_goes(
    llava: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop_system(monkeypatch)
    end = ask(provider(llava), SHORT)[0]
    assert isinstance(end, ProviderError)
    assert "leaves out a part of the conversation" in end.message
    end = ask(provider(llava, system="user"), SHORT)[0]
    assert "<image>\nBe brief.\n\nWhat is it?" in told(end)["prompt"]


def test_a_text_that_stands_for_a_picture_is_refused(llava: str) -> None:
    end = ask(provider(llava), request("What is <image> here?", about=RED))[0]
    assert isinstance(end, ProviderError)
    assert "2 signs for a picture" in end.message


def test_one_model_is_held_at_a_time_and_none_after_closing(checkpoints: Any) -> None:
    first, second = provider(str(checkpoints("llava_next"))), provider(str(checkpoints("qwen")))
    loaded: list[str] = []

    async def both() -> list[Any]:
        try:
            one = await first.ask(SHORT)
            loaded.append(HOUSE.held())
            two = await second.ask(SHORT)
            loaded.append(HOUSE.held())
            return [one, two]
        finally:
            await first.close()
            await second.close()

    ends = asyncio.run(both())
    assert [end.model for end in ends] == loaded
    assert "qwen" in loaded[1]
    assert HOUSE.held() == ""


def test_closing_ends_a_generation_between_two_tokens(llava: str, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way = threading.Event()
    asked = provider(llava, cap=4000)
    real = asked._stop.is_set

    def look() -> bool:
        under_way.set()
        return real()

    monkeypatch.setattr(asked._stop, "is_set", look)

    async def leave() -> Any:
        waiting = asyncio.ensure_future(asked.ask(SHORT))
        under_way.clear()
        await asyncio.to_thread(under_way.wait, 60)
        await asked.close()
        return await asyncio.gather(waiting, return_exceptions=True)

    end = asyncio.run(leave())[0]
    assert isinstance(end, ProviderError)
    assert end.kind is ErrorKind.TRANSIENT


@pytest.mark.parametrize(
    ("name", "words"),
    [("/no/such/folder", "can't be loaded"), ("nobody/nothing", "could not be reached to download it")],
)
def test_a_model_that_is_not_here_is_refused_for_good_with_a_sentence(name: str, words: str) -> None:
    ends = ask(provider(name), SHORT, LONG)
    for end in ends:
        assert isinstance(end, ProviderError)
        assert (end.kind, end.code) == (ErrorKind.PERMANENT, "local_model")
        assert words in end.message or "There is no model" in end.message
        assert name in end.message


def test_a_checkpoint_with_code_of_its_own_is_not_run_unasked(tmp_path: Path) -> None:
    own = {"model_type": "house_chat", "auto_map": {"AutoConfig": "house.Config", "AutoModel": "house.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(own))
    (tmp_path / "house.py").write_text("raise SystemExit('the code ran')")
    end = ask(provider(str(tmp_path)), SHORT)[0]
    assert isinstance(end, ProviderError)
    assert "set the option trust_remote_code where you trust the code" in end.message


def test_a_model_is_spread_over_the_devices_there_are(llava: str) -> None:
    assert ids(*ask(provider(llava, device="spread"), SHORT)) == ids(*ask(provider(llava, device="cpu"), SHORT))


@pytest.mark.parametrize(
    "options", [{"beams": 4}, {"batch": "8"}, {"batch": 0}, {"trust_remote_code": "yes"}, {"system": "developer"}]
)
def test_options_are_read_strictly(llava: str, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        provider(llava, **options)


def by_the_book(checkpoint: str, asked: Request, cap: int = 8) -> list[int]:
    """One conversation asked as the library's own guide does it."""
    processor = transformers.AutoProcessor.from_pretrained(checkpoint)
    model = transformers.AutoModelForImageTextToText.from_pretrained(checkpoint)
    turns: list[dict[str, Any]] = [{"role": "system", "content": [{"type": "text", "text": asked.system}]}]
    turns += [{"role": one.role, "content": [{"type": "text", "text": one.text}]} for one in asked.messages]
    assert asked.picture is not None
    turns[1]["content"].insert(0, {"type": "image", "image": Image.open(BytesIO(asked.picture.data))})
    inputs = processor.apply_chat_template(
        turns, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )
    made = model.generate(**inputs, max_new_tokens=cap, do_sample=False)
    return made[0, inputs["input_ids"].shape[1] :].tolist()


def end_here(monkeypatch: pytest.MonkeyPatch, token: int) -> None:
    """Let the checkpoint's own settings name one more token that ends an answer."""
    load = _local_model.Model.__init__

    def loaded(self: Any, *given: Any) -> None:
        load(self, *given)
        self._model.generation_config.eos_token_id = [token]

    monkeypatch.setattr(_local_model.Model, "__init__", loaded)


def saying(token: int, wraps: Any) -> Any:
    """A generation that brings one token."""

    def generate(self: Any, input_ids: Any, **_: Any) -> Any:
        return torch.cat([input_ids, torch.full((input_ids.shape[0], 1), token)], dim=1)

    return generate


def room_for(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """A device on which only so many requests fit; returns how many were tried each time."""
    sizes: list[int] = []
    real = transformers.GenerationMixin.generate

    def generate(self: Any, input_ids: Any, **given: Any) -> Any:
        sizes.append(input_ids.shape[0])
        if input_ids.shape[0] > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return real(self, input_ids, **given)

    monkeypatch.setattr(transformers.GenerationMixin, "generate", generate)
    return sizes


def drop_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat template that passes a system message over."""
    load = _local_model.Model.__init__

    def loaded(self: Any, *given: Any) -> None:
        load(self, *given)
        kept = self._processor.chat_template
        self._processor.chat_template = kept.replace("in messages %}", "in messages if message.role != 'system' %}")

    monkeypatch.setattr(_local_model.Model, "__init__", loaded)
