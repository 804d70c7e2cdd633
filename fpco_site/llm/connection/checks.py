"""What the calls of a connection test prove: rows of good, bad or untold, each with a sentence of what to do."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum

from fpco_site.llm import detection, settings_rules
from fpco_site.llm.connection import refusals, sight
from fpco_site.llm.connection.steps import SAMPLE, Kind, Past, Probe, Step
from fpco_site.llm.engine.advice import NOT_CONFIGURED, WRONG_KEY
from fpco_site.llm.strict_json import ParseError

QUOTED = 120  # characters of a reply that a sentence repeats


class Mark(StrEnum):
    """`untold`: nothing is wrong that we know of, and nothing was proven."""

    GOOD = "good"
    BAD = "bad"
    UNTOLD = "untold"


@dataclass(frozen=True)
class Check:
    """One row. `words` are for people: whole sentences, and where it is bad, what to do."""

    name: str
    mark: Mark
    words: str

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Subject:
    """Whose test it is: the variable of its key ("" where none is needed), what it costs, whether it is made up."""

    key_name: str
    priced: bool
    simulated: bool


def checks(probe: Probe, subject: Subject) -> list[Check]:
    """Every check of a test that is over, in the order in which people mend them."""
    found = [_key(probe, subject), _answers(probe), _model(probe), *_content(probe, subject), _settings(probe, subject)]
    if subject.simulated:
        return [*found, Check("tokens", Mark.UNTOLD, "Simulated: no tokens are counted and nothing is charged.")]
    return [*found, _tokens(probe), _reasoning(probe), _cache(probe), _price(subject)]


def _key(probe: Probe, subject: Subject) -> Check:
    say = _row("key")
    last = probe.history[-1]
    key = subject.key_name
    refused = last.status in (401, 403) or _is_wrong_key(last)
    if last.code == NOT_CONFIGURED:
        return say(Mark.BAD, f"{last.words} Set it where the worker runs, restart the worker, then test again.")
    if not key and not refused:
        return say(Mark.GOOD, "It needs no key.")
    if refused:
        where = f"the key in {key}" if key else "to be asked without a key: name the variable that holds one"
        return say(Mark.BAD, f"The provider refused {where} ({last.status}). {_said(last)}")
    if _is_money(last):
        return say(
            Mark.BAD, f"The account behind {key or 'this key'} has nothing left to spend: add credit. {_said(last)}"
        )
    if _reached(probe):
        return say(Mark.GOOD, f"{key} is set and was accepted.")
    return say(Mark.UNTOLD, f"{key} is set; nothing answered, so it could not be tried.")


def _answers(probe: Probe) -> Check:
    say = _row("address")
    last, where = probe.history[-1], probe.endpoint.base_url or "The provider's usual address"
    if last.code == NOT_CONFIGURED:
        return say(Mark.UNTOLD, "Not asked.")
    if last.code == "timeout":
        return say(
            Mark.BAD,
            f"{where} gave no answer within {probe.endpoint.timeout:g} s: test again later, or let it wait longer.",
        )
    if last.code == "connection":
        return say(Mark.BAD, f"{where} does not answer: check the address, and that the server is up.")
    if last.code == "unreadable":
        return say(
            Mark.BAD,
            f"{where} answers, but not as this interface does: check the provider and the address (often it ends "
            f"in /v1). {_said(last)}",
        )
    if last.kind == "rate_limited":
        return say(Mark.BAD, f"The provider wants fewer requests: test again in a few minutes. {_said(last)}")
    if last.kind == "transient":
        return say(Mark.BAD, f"The server failed ({last.status or last.code}): test again later. {_said(last)}")
    if last.failed and last.status is None:
        return say(Mark.BAD, f"It could not be asked. {last.words}")
    seconds = [past.seconds for past in probe.history if past.text]
    took = f"; {sum(seconds) / len(seconds):.1f} s an answer" if seconds and max(seconds) > 0 else ""
    return say(Mark.GOOD, f"{where} answers{took}.")


def _model(probe: Probe) -> Check:
    say = _row("model")
    last, asked = probe.history[-1], probe.endpoint.model_id
    if last.status == 404 or last.code.lower() == "model_not_found":
        return say(
            Mark.BAD,
            f"There is no {asked} at this address ({last.status}): check the model id and the address. {_said(last)}",
        )
    answered = next((past.model for past in reversed(probe.history) if past.model), "")
    if not any(not past.failed for past in probe.history):
        return say(Mark.UNTOLD, "No answer came, so whether the model exists is not known.")
    return say(Mark.GOOD, f"{asked} answered" + (f" as {answered}." if answered and answered != asked else "."))


def _content(probe: Probe, subject: Subject) -> list[Check]:
    if probe.kind is Kind.DETECTOR:
        return [_labels(probe)]
    seen = _picture(probe, subject)
    return [seen, _history(probe)] if probe.kind is Kind.MODEL else [seen]


def _picture(probe: Probe, subject: Subject) -> Check:
    say = _row("picture")
    look = _latest(probe, Step.LOOK)
    if look is None or (look.failed and look.status not in refusals.REFUSING):
        return say(Mark.UNTOLD, "No answer came, so whether the picture is seen is not known.")
    if look.failed:
        return _refused_picture(probe, look)
    if subject.simulated:
        return say(Mark.UNTOLD, f"Simulated: it reads the questions alone and sees no picture. It said {_quote(look)}.")
    if look.text and sight.was_seen(look.text, probe.shown):
        return say(
            Mark.GOOD, f"It read {probe.shown.number} and {probe.shown.colour} from a picture made for this test."
        )
    wanted = f"The picture shows {probe.shown.number} and a {probe.shown.colour} disc"
    if not look.text:
        return say(Mark.BAD, f"{wanted}; the answer had no text. {look.words} {_advice(look)}".rstrip())
    return say(
        Mark.BAD,
        f"{wanted}; it answered {_quote(look)}. Either the picture doesn't reach the model, or it can't read it: "
        "check that this model takes pictures and that the server passes them on.",
    )


def _refused_picture(probe: Probe, look: Past) -> Check:
    say = _row("picture")
    plain = _latest(probe, Step.PLAIN)
    if plain is not None and not plain.failed:
        return say(
            Mark.BAD,
            f"The model refuses a picture and answers without one: choose a model that takes pictures. {_said(look)}",
        )
    return say(Mark.UNTOLD, "The request was refused as a whole; see the settings.")


def _history(probe: Probe) -> Check:
    say = _row("history")
    recall = _latest(probe, Step.RECALL)
    if recall is None:
        return say(Mark.UNTOLD, "Not tried: the first turn brought no answer.")
    if recall.failed and recall.status in refusals.REFUSING:
        return say(Mark.BAD, f"A second turn is refused: dialogues can't be run here. {_said(recall)}")
    if recall.failed:
        return say(Mark.UNTOLD, "The second turn brought no answer.")
    if recall.text and sight.was_remembered(recall.text, probe.shown):
        return say(Mark.GOOD, "In the second turn it knew what the first had said.")
    if not recall.text:
        return say(Mark.BAD, f"The second turn had no text. {recall.words} {_advice(recall)}".rstrip())
    return say(
        Mark.BAD,
        f"In the second turn it was asked for “{probe.shown.name}” from the first and answered {_quote(recall)}: "
        "the server may send the last message alone.",
    )


def _labels(probe: Probe) -> Check:
    say = _row("labels")
    label = _latest(probe, Step.LABEL)
    if label is None or label.failed:
        return say(Mark.UNTOLD, "No answer came, so whether it labels as JSON is not known.")
    try:
        detection.parse(label.text or "", detection.ids_asked(SAMPLE))
    except ParseError as error:
        return say(Mark.BAD, f"Two answers were not labelled as asked. {error} {_advice(label)}".rstrip())
    return say(Mark.GOOD, "It labelled two answers with exactly the JSON that was asked for.")


def _settings(probe: Probe, subject: Subject) -> Check:
    """Whether the rest is accepted; what was refused and left out is the author's to decide and kept apart."""
    say = _row("settings")
    last = probe.history[-1]
    if subject.simulated:
        return say(Mark.UNTOLD, "Simulated: no settings are sent.")
    refused_whole = last.failed and last.status in refusals.REFUSING and not _is_picture(probe)
    elsewhere = last.step is Step.RECALL or last.code.lower() == "model_not_found" or _is_wrong_key(last)
    if refused_whole and not elsewhere:
        return say(Mark.BAD, f"The request is refused ({last.status}): change the setting that it names. {_said(last)}")
    if not any(not past.failed for past in probe.history):
        return say(Mark.UNTOLD, "No answer came, so nothing is known of the settings.")
    sent = settings_rules.sent(probe.asked)
    named = ", ".join(f"{name} {value}" for name, value in sent.items())
    return say(Mark.GOOD, f"Accepted: {named}." if named else "Nothing but the questions is sent.")


def _tokens(probe: Probe) -> Check:
    say = _row("tokens")
    counted = [past.usage for past in _answered(probe)]
    if not counted:
        return say(Mark.UNTOLD, "No answer came.")
    first = counted[0]
    if first.input is None or first.output is None:
        return say(Mark.UNTOLD, "The provider counts no tokens: what runs cost and the rest of a budget are not known.")
    return say(Mark.GOOD, f"Counted: {first.input:,} in and {first.output:,} out for the first question.")


def _reasoning(probe: Probe) -> Check:
    say = _row("reasoning")
    found = [past.usage.reasoning for past in _answered(probe) if past.usage.reasoning is not None]
    if not found:
        return say(Mark.UNTOLD, "No reasoning tokens are told apart: it doesn't reason, or the provider doesn't say.")
    if not max(found):
        return say(Mark.GOOD, "Told apart; it used none here.")
    most = f"up to {max(found):,} of a cap of {probe.endpoint.max_output_tokens:,}"
    return say(Mark.GOOD, f"Told apart: {most} in this test. What is reasoned counts against the cap.")


def _cache(probe: Probe) -> Check:
    say = _row("cache")
    answered = _answered(probe)
    if len(answered) < 2:
        return say(Mark.UNTOLD, "Not tried: it takes a second call with the same start.")
    usage = answered[-1].usage
    if usage.cached is None:
        return say(Mark.UNTOLD, "No cached tokens are reported: all input is counted at its full price.")
    if not usage.cached:
        return say(Mark.GOOD, "Reported; none here, as so short a prompt is often not cached.")
    return say(Mark.GOOD, f"Reported: {usage.cached:,} of {usage.input or 0:,} input tokens of the second call.")


def _price(subject: Subject) -> Check:
    if subject.priced:
        return Check("price", Mark.GOOD, "Prices of input and output are known.")
    return Check("price", Mark.UNTOLD, "No prices are known: costs can't be estimated and a budget can't be kept.")


def _row(name: str) -> Callable[[Mark, str], Check]:
    def say(mark: Mark, words: str) -> Check:
        return Check(name, mark, words)

    return say


def _latest(probe: Probe, step: Step) -> Past | None:
    return next((past for past in reversed(probe.history) if past.step is step), None)


def _answered(probe: Probe) -> list[Past]:
    return [past for past in probe.history if not past.failed]


def _reached(probe: Probe) -> bool:
    return any(not past.failed or past.status is not None for past in probe.history)


def _is_picture(probe: Probe) -> bool:
    plain = _latest(probe, Step.PLAIN)
    return plain is not None and not plain.failed


def _is_wrong_key(past: Past) -> bool:
    """As some say with a plain 400."""
    return past.code.lower() in WRONG_KEY


def _is_money(past: Past) -> bool:
    return past.status == 402 or "quota" in past.code or "billing" in past.code


def _advice(past: Past) -> str:
    """What to do about an answer without text, or one that was cut."""
    if past.outcome == "empty" and past.usage.reasoning:
        return "Let it write more tokens, or reason less."
    return {"cut": "Let it write more tokens.", "blocked": "See the filter's settings at the provider."}.get(
        past.outcome, ""
    )


def _said(past: Past) -> str:
    return f"It said: {past.words}"


def _quote(past: Past) -> str:
    text = " ".join((past.text or "").split())
    return f"“{text[:QUOTED]}{'…' if len(text) > QUOTED else ''}”"
