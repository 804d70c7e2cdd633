"""What the scripted drafter proposes keeps the study's rules for descriptions, questions and premises."""

import pytest

from annotate.axes import Category, Complexity, PremiseClass
from annotate.linting import PlainItem, PlainTurn, StudyPlan, blocking, lint_item
from fpco_site.llm.simulated import author
from fpco_site.llm.simulated.words import ATTRIBUTES, CONTRARIES

FALSE_TURNS = range(4, 11)
TARGETS = {
    Category.PERSON: ["woman", "man", "girl", "violin player", "the man in the black coat", "old woman", "statue"],
    Category.VEHICLE: ["car", "road bicycle", "a boat", "rocket", "tractor", "train on the left", "wooden ship"],
    Category.ANIMAL: ["dog", "hen", "foal", "fox", "crab", "striped cat", "horse behind the fence", "bird"],
    Category.FOOD: ["coffee", "cup of coffee", "fig", "lime", "pizza", "sliced apple", "cupcake", "raw fish"],
}


def drafted(target: str, complexity: str, category: Category, premise_class: str) -> PlainItem:
    """The item that both drafts make."""
    description = author.describe(target, complexity, category.number)
    questions = author.questions(description, category.number)
    modified = author.modified_description(description, premise_class, category.number)
    rewrites = author.modified_questions({n: questions[n] for n in FALSE_TURNS}, description, modified)
    turns = tuple(PlainTurn(n, text, rewrites.get(n, "")) for n, text in questions.items())
    return PlainItem(premise_class, description, modified, turns)


@pytest.mark.parametrize("premise_class", PremiseClass.values)
@pytest.mark.parametrize("complexity", Complexity.values)
@pytest.mark.parametrize(("category", "target"), [(kind, target) for kind, some in TARGETS.items() for target in some])
def test_a_draft_has_nothing_to_mend(category: Category, target: str, complexity: str, premise_class: str) -> None:
    item = drafted(target, complexity, category, premise_class)

    assert [finding.message for finding in lint_item(item)] == []


@pytest.mark.parametrize("premise_class", PremiseClass.values)
def test_no_premise_adds_a_word(premise_class: str) -> None:
    item = drafted("dog", "single_clean", Category.ANIMAL, premise_class)

    assert len(item.modified_target_description.split()) == len(item.target_description.split())


@pytest.mark.parametrize("target", ["woman", "black man", "old woman", "pale girl in the red dress"])
def test_of_a_person_only_expression_and_clothes_are_changed(target: str) -> None:
    item = drafted(target, "single_clean", Category.PERSON, PremiseClass.ATTRIBUTE)

    before, after = item.target_description.split(), item.modified_target_description.split()
    changed = [word for word, other in zip(before, after, strict=True) if word != other]
    assert changed in (["smiling"], ["serious"], ["red"])


def test_a_description_without_a_look_gets_no_attribute_premise() -> None:
    with pytest.raises(author.NothingToChangeError, match="names no colour"):
        author.modified_description("the dog on the sofa", "attribute", Category.ANIMAL.number)


def test_a_rewritten_question_keeps_the_capital_of_its_sentence() -> None:
    rewritten = author.modified_questions(
        {4: "The red car is where?", 5: "Where is the red car?", 6: "Is the red carpet near?"},
        "the red car",
        "the blue car",
    )

    assert rewritten == {4: "The blue car is where?", 5: "Where is the blue car?", 6: "Is the red carpet near?"}


def test_a_change_of_identity_takes_the_pronouns_with_it() -> None:
    rewritten = author.modified_questions(
        {4: "What has the woman in her hand, and who is near her?", 5: "Is the woman proud of herself? She smiles."},
        "the woman",
        "the man",
    )

    assert rewritten == {
        4: "What has the man in his hand, and who is near him?",
        5: "Is the man proud of himself? He smiles.",
    }


def test_each_look_has_a_contrary_that_is_a_look_too() -> None:
    assert set(CONTRARIES) | set(CONTRARIES.values()) <= ATTRIBUTES
    assert all(other != word for word, other in CONTRARIES.items())


@pytest.mark.parametrize("premise_class", PremiseClass.values)
@pytest.mark.parametrize(("category", "target"), [(kind, target) for kind, some in TARGETS.items() for target in some])
def test_a_second_premise_is_another_one_and_keeps_the_rules(
    category: Category, target: str, premise_class: str
) -> None:
    first = drafted(target, "single_clean", category, premise_class)
    other = author.modified_description(
        first.target_description, premise_class, category.number, [first.modified_target_description]
    )
    assert other != first.modified_target_description
    questions = {turn.number: turn.content for turn in first.turns}
    rewrites = author.modified_questions({4: questions[4]}, first.target_description, other)
    turns = tuple(PlainTurn(n, questions[n], rewrites.get(n, "")) for n in range(1, 5))
    second = PlainItem(premise_class, first.target_description, other, turns)
    assert [finding.message for finding in blocking(lint_item(second, StudyPlan(4, (4,))))] == []


def test_where_all_that_the_lists_know_is_taken_nothing_is_proposed() -> None:
    taken = ["the smiling statue", "the smiling snowman"]
    with pytest.raises(author.NothingToChangeError, match="no other change"):
        author.modified_description("the smiling robot", "identity", Category.PERSON.number, taken)
