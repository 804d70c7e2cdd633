"""An item's texts as a page shows them: line by line, differences marked, findings beside their line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from annotate import drafting, marking
from annotate.linting import Finding, PlainItem, PlainTurn, Plan, Severity, StudyPlan, lint_item
from annotate.services.items import Question, Texts


@dataclass(frozen=True)
class Line:
    """One turn. `computed` is the rewrite that follows from the descriptions, empty where none does."""

    number: int
    false_premise: bool
    content: list[marking.Piece]
    modified: list[marking.Piece]
    text: Question
    computed: str = ""
    findings: list[Finding] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether the rewrite was worded by hand (or by a model) and is not the computed one."""
        return bool(self.computed and self.text.modified and self.computed != self.text.modified)

    @property
    def machine(self) -> str:
        """The rewrite if it is the computed one: it then follows the descriptions."""
        return self.computed if self.text.modified in {"", self.computed} else ""


@dataclass(frozen=True)
class Sheet:
    """All lines of an item, the marked descriptions, and the findings about the item as a whole."""

    texts: Texts
    description: list[marking.Piece]
    modified_description: list[marking.Piece]
    lines: list[Line]
    findings: list[Finding]
    general: list[Finding]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.WARNING]

    @property
    def tickets(self) -> list[tuple[str, Finding]]:
        """Each warning with the name that ticks it."""
        return [(ticket(finding), finding) for finding in self.warnings]


def sheet(texts: Texts, *, premise_class: str, plan: Plan, more: Iterable[Finding] = ()) -> Sheet:
    """Everything that the pages show about these texts; `more` are findings beyond the item's own texts."""
    findings = [*more, *findings_of(texts, premise_class=premise_class, plan=plan)]
    description, modified = drafting.split_marks(texts.target_description, texts.modified_target_description)
    return Sheet(
        texts=texts,
        description=marking.pieces(description, description="", findings=_about(findings, "target_description")),
        modified_description=marking.pieces(
            modified, description="", findings=_about(findings, "modified_target_description")
        ),
        lines=[
            _line(number, question, texts, number in plan.false_turns, findings)
            for number, question in sorted(texts.questions.items())
        ],
        findings=findings,
        general=[finding for finding in findings if finding.turn not in texts.questions],
    )


def findings_of(texts: Texts, *, premise_class: str, plan: Plan) -> list[Finding]:
    """What the rules say about these texts."""
    return list(_lint(plain(texts, premise_class), StudyPlan(plan.turns, tuple(plan.false_turns))))


@lru_cache(maxsize=4096)
def _lint(item: PlainItem, plan: StudyPlan) -> tuple[Finding, ...]:
    """The same texts are looked at on page after page, and the rules are pure."""
    return tuple(lint_item(item, plan))


def plain(texts: Texts, premise_class: str) -> PlainItem:
    """The texts as the rules read them."""
    return PlainItem(
        premise_class=premise_class,
        target_description=texts.target_description,
        modified_target_description=texts.modified_target_description,
        turns=tuple(
            PlainTurn(number, question.content, question.modified)
            for number, question in sorted(texts.questions.items())
        ),
    )


def ticket(finding: Finding) -> str:
    """A name for one finding that is the same whenever the same texts are looked at."""
    start, end = finding.span or ("", "")
    return f"{finding.code}/{finding.turn or 0}/{finding.field}/{start}-{end}"


def computed(question: str, texts: Texts) -> str:
    """The question with the modified description; empty where the description is not in it exactly once."""
    if not texts.target_description or not texts.modified_target_description:
        return ""
    try:
        return drafting.replace_description(question, texts.target_description, texts.modified_target_description)
    except drafting.NotOnceError:
        return ""


def recompute(texts: Texts, *, machine: Mapping[int, str], before: str, plan: Plan) -> Texts:
    """The texts with the rewrites computed anew.

    A rewrite that is blank, or still what was computed for it (`machine`, by turn), is replaced. One
    that was worded by hand keeps its wording; only `before`, the former modified description, gives
    way to the new one in it.
    """
    questions = dict(texts.questions)
    for number in plan.false_turns:
        if number not in questions:
            continue
        question = questions[number]
        if question.modified.strip() in {"", machine.get(number, "")}:
            rewritten = computed(question.content, texts) or question.modified
        else:
            rewritten = _follow(question.modified, before, texts.modified_target_description)
        questions[number] = replace(question, modified=rewritten)
    return replace(texts, questions=questions)


def _follow(text: str, before: str, after: str) -> str:
    if not before or not after or before == after:
        return text
    try:
        return drafting.replace_description(text, before, after)
    except drafting.NotOnceError:
        return text


def _about(findings: Iterable[Finding], text: str, turn: int | None = None) -> list[Finding]:
    return [finding for finding in findings if (finding.field, finding.turn) == (text, turn)]


def _line(number: int, question: Question, texts: Texts, false: bool, findings: list[Finding]) -> Line:
    content, modified = drafting.split_marks(question.content, question.modified if false else question.content)
    return Line(
        number=number,
        false_premise=false,
        content=marking.pieces(
            content, description=texts.target_description, findings=_about(findings, "content", number)
        ),
        modified=marking.pieces(
            modified if false else [],
            description=texts.modified_target_description,
            findings=_about(findings, "modified", number),
        ),
        text=question,
        computed=computed(question.content, texts) if false else "",
        findings=[finding for finding in findings if finding.turn == number],
    )
