"""Guidelines for annotators: versioned files, and a reader of their simple markup."""

from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
LATEST = "v1"


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph or a list. All of it is plain text; the page escapes it."""

    kind: str
    text: str = ""
    items: list[str] = field(default_factory=list)


def text(version: str = LATEST) -> str:
    """The guidelines of one version, as they are written."""
    return (FOLDER / f"{version}.md").read_text(encoding="utf-8")


def blocks(written: str) -> list[Block]:
    """Read `# heading`, `- item` and paragraphs that an empty line divides.

    Examples
    --------
    >>> [block.kind for block in blocks("# Rule\\n\\nOne line\\nof text.\\n\\n- a\\n- b")]
    ['heading', 'paragraph', 'list']
    """
    parts = (part.strip() for part in written.replace("\r\n", "\n").split("\n\n"))
    return [_block(part) for part in parts if part]


def _block(part: str) -> Block:
    if part.startswith("#"):
        return Block("heading", part.lstrip("#").strip())
    if part.startswith("- "):
        return Block("list", items=[" ".join(entry.split()) for entry in f"\n{part}".split("\n- ")[1:]])
    return Block("paragraph", " ".join(part.split()))
