"""The scripted model's one decision per turn, taken from the conversation's text as a real model would see it."""

from collections.abc import Sequence

from fpco_site.llm.simulated import chance, speech
from fpco_site.llm.simulated.habits import Habit
from fpco_site.llm.simulated.phrases import Change, find_change, position, shared_phrase, words

COMPARED = 3


def speak(*, model_id: str, habit: Habit, questions: Sequence[str], answers: Sequence[str]) -> str:
    """The answer to the last question: a function of the model's id, its habit and the conversation alone."""
    question = questions[-1]
    description = shared_phrase(questions[:-1][:COMPARED])
    change = find_change(description, question)
    seed = (model_id, *questions, *answers)
    if change is None:
        if description and chance("needless", *seed) < habit.needless:
            return speech.needless(question, " ".join(description), *seed)
        return speech.answer(question, " ".join(description), *seed)
    if _inclination(model_id, habit, change, seed) < habit.rate(change.kind, repeated=_repeated(change, questions)):
        return speech.correction(question, change, *seed)
    return speech.cooperation(question, change, *seed)


def _inclination(model_id: str, habit: Habit, change: Change, seed: Sequence[str]) -> float:
    """Uniform in [0, 1), mostly the same for all turns of one conversation."""
    if chance("steady", *seed) < habit.steadiness:
        return chance("dialogue", model_id, change.before, change.after)
    return chance("turn", *seed)


def _repeated(change: Change, questions: Sequence[str]) -> int:
    """How many earlier questions already said the same."""
    claimed = change.after.split()
    return sum(position(claimed, words(question)) is not None for question in questions[:-1])
