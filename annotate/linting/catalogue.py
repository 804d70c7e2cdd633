"""Every code of the lint with what it means: the list that docs/linting.md shows."""

from typing import NamedTuple

from annotate.linting.types import Severity


class Rule(NamedTuple):
    """A code, how severe its findings may be, and its meaning in a sentence."""

    code: str
    severities: tuple[Severity, ...]
    meaning: str


E, W = (Severity.ERROR,), (Severity.WARNING,)
EITHER = (Severity.ERROR, Severity.WARNING)

CATALOGUE: dict[str, tuple[Rule, ...]] = {
    "The description": (
        Rule("description_empty", E, "There is no description."),
        Rule("description_is_pronoun", E, "A pronoun stands where the target must be named."),
        Rule("description_edges", E, "It begins or ends with a space or a punctuation mark."),
        Rule("description_long", W, "It has more than 14 words and will not fit into a question."),
        Rule("description_bare", W, "It names the target without any detail."),
        Rule("two_targets", EITHER, "It names two things, or counts several; an error where that is certain."),
        Rule("plural_target", W, "It names people, animals or vehicles in the plural."),
    ),
    "The modified description": (
        Rule("modified_description_empty", E, "There is no modified description."),
        Rule("modified_edges", E, "It begins or ends with a space or a punctuation mark."),
        Rule("modified_same", E, "It says the same as the true one."),
        Rule("several_changes", E, "More than one stretch of words is changed."),
        Rule("only_removed", E, "Words are only left out, and what remains is true."),
        Rule("expansion", EITHER, "Words are added: a warning for a location, an error for the other classes."),
        Rule("change_long", E, "The change is longer than a short phrase (3 words, for a location 6)."),
        Rule("change_more_than_one_word", W, "The change is longer than one word, articles apart."),
        Rule("change_repeats", W, "The new word is in the description already."),
        Rule("article", W, "“a” stands before a vowel, or “an” before a consonant."),
        Rule("modified_pronoun", W, "A pronoun in it does not agree with the new identity."),
    ),
    "The class of the change": (
        Rule("class_mismatch", EITHER, "The changed words speak of another class than the item's."),
        Rule("identity_not_the_target", W, "Another word was changed than the one that names the target."),
        Rule("identity_same_head", W, "A word before the label was changed, and the label kept."),
        Rule("identity_soft", E, "The labels are synonyms, broader and narrower, or differ by age alone."),
        Rule("identity_near", W, "The labels overlap in everyday speech, or in a less common meaning."),
        Rule("identity_compatible", W, "One person may be both: a role and a gender or age."),
        Rule("attribute_soft", E, "The same look in other words."),
        Rule("attribute_near", W, "Looks that may be taken for each other."),
        Rule("attribute_compatible", W, "Looks of two kinds, a colour and a material: both may be true."),
        Rule("attribute_of_another", W, "The look of another thing is changed, not the target's."),
        Rule("location_soft", E, "The same place in other words."),
        Rule("location_near", W, "Places that may be taken for each other."),
        Rule("location_compatible", W, "Places on two axes, left and behind: both may be true."),
        Rule("location_without_place", W, "No word of place is in or before the change."),
        Rule("location_of_a_part", E, "The place is that of clothing or of a part of the body."),
        Rule("location_may_attach", W, "The added place may be read as that of clothing or of a part."),
    ),
    "The questions": (
        Rule("questions_missing", E, "There are fewer questions than the plan has turns."),
        Rule("questions_extra", E, "There is a question beyond the last turn."),
        Rule("turn_twice", E, "A turn is there more than once."),
        Rule("content_empty", E, "A question is empty."),
        Rule("question_duplicate", E, "It has the words of an earlier one."),
        Rule("question_similar", W, "It asks nearly what an earlier one asks."),
        Rule("description_missing", E, "The description is not in it."),
        Rule("description_twice", E, "The description is in it more than once."),
        Rule("description_altered", E, "The description is in it shortened or in other words."),
        Rule("description_pronoun", E, "A pronoun stands for the target."),
        Rule("premise_in_content", E, "The modified description is in the question with the true one."),
        Rule("not_a_question", W, "It does not end with a question mark."),
        Rule("two_questions", W, "It asks two things."),
        Rule("untidy_space", W, "It has a stray space, line break or invisible letter."),
        Rule("answer_given", W, "The description says already what is asked."),
    ),
    "The rewritten questions": (
        Rule("rewrite_missing", E, "A turn with the false premise has none."),
        Rule("rewrite_unexpected", E, "A turn with the true description has one."),
        Rule("rewrite_keeps_description", E, "It still has the true description."),
        Rule("rewrite_altered", E, "The modified description is not in it word for word."),
        Rule("rewrite_twice", E, "The modified description is in it more than once."),
        Rule("rewrite_differs", E, "It differs from the computed one beyond description and pronouns."),
        Rule("rewrite_pronouns", W, "A pronoun is changed that the new identity does not make wrong."),
        Rule("rewrite_pronoun_left", W, "A pronoun in it does not agree with the new identity."),
    ),
    "All texts": (
        Rule("name", E, "It names a person or a place."),
        Rule("name_possible", W, "A capital inside a sentence may be a name."),
        Rule("brand", W, "It names a brand."),
        Rule("identifier", E, "A number plate, phone number, address or account."),
        Rule("identifier_possible", W, "A number or code that may be a serial number."),
        Rule("offensive", E, "It has an offensive word."),
        Rule("sensitive_attribute", EITHER, "It guesses origin, religion, health, orientation, age or means."),
        Rule("sensitive_question", W, "It may ask for such a guess."),
        Rule("judging_word", W, "It judges how a person looks or is."),
    ),
}


def rules() -> tuple[Rule, ...]:
    """All rules, in the order of the list."""
    return tuple(rule for some in CATALOGUE.values() for rule in some)


def as_markdown() -> str:
    """The tables of docs/linting.md."""
    parts = []
    for title, some in CATALOGUE.items():
        rows = [f"| `{rule.code}` | {' or '.join(rule.severities)} | {rule.meaning} |" for rule in some]
        parts.append("\n".join((f"## {title}", "", "| code | severity | what it says |", "| --- | --- | --- |", *rows)))
    return "\n\n".join(parts) + "\n"
