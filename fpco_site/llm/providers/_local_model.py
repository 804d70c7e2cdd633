"""One open-weight model in this process: loaded, asked in batches, released. The one module that imports torch."""

import gc
import io
import json
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers
from PIL import Image, UnidentifiedImageError

from fpco_site.llm.providers.transformers import CantLoad, Options, OutOfMemory, Said
from fpco_site.llm.types import ErrorKind, Picture, ProviderError, Request

OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


class Model:
    """A processor and a model of one checkpoint, on its device and ready to generate."""

    def __init__(self, model_id: str, options: Options) -> None:
        self._id = model_id
        self._options = options
        shared: dict[str, Any] = {"trust_remote_code": options.trust_remote_code}
        if options.revision:
            shared["revision"] = options.revision
        how: dict[str, Any] = {"dtype": options.dtype}
        if options.attention:
            how["attn_implementation"] = options.attention
        if options.device == "spread":
            how["device_map"] = "auto"
        try:
            self._processor = transformers.AutoProcessor.from_pretrained(model_id, **shared, **options.processor)
            self._model = transformers.AutoModelForImageTextToText.from_pretrained(model_id, **shared, **how)
            if options.device != "spread":
                self._model.to(device_of(options.device))
        except Exception as error:
            raise CantLoad(why_not(model_id, error)) from None
        self._model.eval()
        self._tokenizer = getattr(self._processor, "tokenizer", self._processor)
        self._tokenizer.padding_side = "left"  # a reply goes on where the prompt ends
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        commit = getattr(self._model.config, "_commit_hash", None)
        self.name = f"{model_id}@{commit}" if commit else model_id

    def generate(self, requests: Sequence[Request], *, cap: int, stop: Callable[[], bool]) -> list[Said]:
        """The reply to each request, all generated at once: with pictures or without, not mixed.

        Raises OutOfMemory, and whatever a request that can't be asked raises: then for all of them.
        """
        begin = time.monotonic()
        prompts = [self._prompt(request) for request in requests]
        pictures = [opened(request.picture) for request in requests if request.picture is not None]
        try:
            inputs = self._inputs(prompts, pictures)
            with torch.inference_mode():
                ids = self._model.generate(**inputs, **self._decoding(cap, stop))
            return self._said(inputs, ids, prompts, cap, time.monotonic() - begin)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            words = f"{self._id} does not fit into the memory of {self._model.device} with this request"
        raise OutOfMemory(f"{words}; use a smaller picture, a smaller model or a larger device.")

    @staticmethod
    def tidy() -> None:
        tidy()

    def _prompt(self, request: Request) -> str:
        """The conversation in the checkpoint's own chat template, which must leave nothing out."""
        prompt = self._processor.apply_chat_template(
            conversation(request, self._options.system), add_generation_prompt=True, tokenize=False
        )
        texts = [request.system, *(message.text for message in request.messages)]
        if any(text.strip() not in prompt for text in texts):
            raise ProviderError(
                ErrorKind.PERMANENT,
                f"The chat template of {self._id} leaves out a part of the conversation; if it has no system "
                "message, set the option system to user.",
            )
        self._check_signs(prompt, request)
        return str(prompt)

    def _check_signs(self, prompt: str, request: Request) -> None:
        """One sign stands for the picture, and none where there is no picture."""
        sign = getattr(self._processor, "image_token", None)
        wanted = int(request.picture is not None)
        if isinstance(sign, str) and sign and prompt.count(sign) != wanted:
            raise ProviderError(
                ErrorKind.PERMANENT,
                f"The prompt for {self._id} has {prompt.count(sign)} signs for a picture ({sign}) instead of {wanted}.",
            )

    def _inputs(self, prompts: list[str], pictures: list[Image.Image]) -> Any:
        starts = self._tokenizer.bos_token
        given: dict[str, Any] = {"images": pictures} if pictures else {}
        # A template that writes the first token itself must not get it twice.
        special = not (starts and all(prompt.startswith(starts) for prompt in prompts))
        inputs = self._processor(text=prompts, **given, padding=True, return_tensors="pt", add_special_tokens=special)
        return inputs.to(self._model.device, dtype=self._model.dtype)

    def _decoding(self, cap: int, stop: Callable[[], bool]) -> dict[str, Any]:
        """Greedy, whatever the checkpoint's own settings say of sampling; its other settings hold."""
        return {
            "max_new_tokens": cap,
            "do_sample": False,
            "num_beams": 1,
            "temperature": None,
            "top_p": None,
            "top_k": None,
            "pad_token_id": self._tokenizer.pad_token_id,
            "stopping_criteria": [_Stop(stop)],
        }

    def _said(self, inputs: Any, ids: Any, prompts: Sequence[str], cap: int, seconds: float) -> list[Said]:
        given = inputs["input_ids"].shape[1]
        ends = self._ends()
        found = []
        for prompt, row, mask in zip(prompts, ids[:, given:].tolist(), inputs["attention_mask"], strict=True):
            at = next((place for place, token in enumerate(row) if token in ends), None)
            kept = row if at is None else row[: at + 1]
            finish = "stop" if at is not None else "length" if len(row) >= cap else "stopped"
            text = self._tokenizer.decode(kept, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            raw = {**self._facts(cap, len(prompts)), "prompt": prompt, "ids": kept, "finish_reason": finish}
            sent = int(mask.sum())
            found.append(Said(text, finish, sent, len(kept), self.name, seconds, json.dumps(raw).encode()))
        return found

    def _ends(self) -> set[int]:
        """Tokens that end a reply."""
        ends = self._model.generation_config.eos_token_id
        ends = self._tokenizer.eos_token_id if ends is None else ends
        return set(ends) if isinstance(ends, list | tuple) else {ends}

    def _facts(self, cap: int, batch: int) -> dict[str, Any]:
        """How it was generated, for the record."""
        return {
            "model": self.name,
            "device": str(self._model.device),
            "dtype": str(self._model.dtype),
            "batch": batch,
            "max_new_tokens": cap,
            "do_sample": False,
            "repetition_penalty": self._model.generation_config.repetition_penalty,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }


class _Stop(transformers.StoppingCriteria):  # type: ignore[misc]  # transformers is not there where types are checked
    """Ends a generation between two tokens when the worker is told to stop."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._told = stop

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        return torch.full((input_ids.shape[0],), self._told(), dtype=torch.bool, device=input_ids.device)


def conversation(request: Request, system: str) -> list[dict[str, Any]]:
    """A request as chat templates read it: the picture before the text of the first question."""
    turns: list[dict[str, Any]] = []
    if request.system and system == "system":
        turns.append({"role": "system", "content": [{"type": "text", "text": request.system}]})
    for number, message in enumerate(request.messages):
        first = number == 0
        before = f"{request.system}\n\n" if first and system == "user" and request.system else ""
        content: list[dict[str, Any]] = [{"type": "image"}] if first and request.picture is not None else []
        content.append({"type": "text", "text": f"{before}{message.text}"})
        turns.append({"role": message.role, "content": content})
    return turns


def opened(picture: Picture) -> Image.Image:
    """The picture's pixels. Raises ProviderError for bytes that are no picture."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Image.open(io.BytesIO(picture.data)).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise ProviderError(ErrorKind.PERMANENT, "The stored picture can't be read as one.") from error


def device_of(name: str) -> str:
    """A device by its name; *auto* takes the first of cuda, mps and cpu that there is."""
    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def is_out_of_memory(error: Exception) -> bool:
    """Each device says it in another way."""
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or any(words in str(error).lower() for words in OUT_OF_MEMORY)


def tidy() -> None:
    """Give memory that nothing holds any more back to the device."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def why_not(model_id: str, error: Exception) -> str:
    """One sentence about a model that can't be loaded."""
    names: set[str] = set()
    cause: BaseException | None = error
    while cause is not None:
        names |= {kind.__name__ for kind in type(cause).__mro__}
        cause = cause.__cause__ or cause.__context__
    if is_out_of_memory(error):
        return f"{model_id} does not fit into the memory of its device."
    if "GatedRepoError" in names:
        return f"{model_id} is behind a licence: accept it at Hugging Face and set HF_TOKEN for the worker."
    if "RepositoryNotFoundError" in names or "HFValidationError" in names:
        return f"There is no model {model_id}, neither as a folder on this machine nor at Hugging Face."
    if names & {"OfflineModeIsEnabled", "LocalEntryNotFoundError", "ConnectionError", "ConnectError"}:
        return f"{model_id} is not on this machine, and Hugging Face could not be reached to download it."
    if "trust_remote_code" in str(error) or "Unrecognized" in str(error):
        return (
            f"{model_id} is not in a form that Transformers reads by itself: take or convert one that is (often named "
            "-hf), or set the option trust_remote_code where you trust the code that comes with it."
        )
    words = str(error).strip().splitlines()
    return f"{model_id} can't be loaded: {words[0][:400] if words else type(error).__name__}"
