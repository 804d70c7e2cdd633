"""Make the noun table of the lint from WordNet's own files.

Run by hand, when WordNet's files or the choice of nouns change:

    python -m fpco_site.devtools.build_nouns FOLDER [TARGET]

FOLDER holds WordNet 3.0's `data.noun`, `index.noun`, `noun.exc` and `cntlist.rev` (Debian: package
wordnet-base, /usr/share/wordnet). TARGET is `annotate/linting/nouns.txt.gz` unless given. The same
files make the same bytes. The format is described in `annotate/linting/nouns.py`.
"""

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

TARGET = Path("annotate/linting/nouns.txt.gz")
# Lexicographer files whose nouns can be seen: animal, artefact, body, food, person, plant.
VISIBLE = frozenset({"05", "06", "08", "13", "18", "20"})
# Of the file of tops, only these: animal, person, plant, food, artefact. Chains end at them.
TOPS = frozenset({"00015388", "00007846", "00017222", "00021265", "00021939"})
INSTANCE = "@i"
HEAD = "# Nouns of things that can be seen, from WordNet 3.0; see nouns.LICENSE. Made by build_nouns."
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
ID_WIDTH = 3
MOST_SENSES = 3
FEWEST_USES = 3
MOST_WORDS = 2
# A lesser sense is kept from this share of the main sense's count of uses on.
SHARE = 0.1


class Synset(NamedTuple):
    """One meaning: the lexicographer file, its words with their lexical ids, its broader meanings."""

    file: str
    words: tuple[tuple[str, str], ...]
    broader: tuple[str, ...]
    instance: bool


def main(arguments: list[str]) -> int:
    """Build the table and say how large it is."""
    if not 1 <= len(arguments) <= 2:
        print("Give the folder of WordNet's files, and, if you like, the target.", file=sys.stderr)  # noqa: T201
        return 2
    folder, target = Path(arguments[0]), Path(arguments[1]) if len(arguments) == 2 else TARGET
    text = table(folder)
    target.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{target}: {text.count(chr(10))} lines, {target.stat().st_size:,} bytes")  # noqa: T201
    return 0


def table(folder: Path) -> str:
    """The whole table as text."""
    synsets = dict(_synsets(_lines(folder / "data.noun")))
    counts = _counts(_lines(folder / "cntlist.rev"))
    senses = _senses(_lines(folder / "index.noun"), synsets, counts)
    kept = _with_broader({sense for some in senses.values() for sense in some}, synsets)
    names = {offset: _short(number) for number, offset in enumerate(sorted(kept))}
    meanings = (f"{names[one]}\t{' '.join(names[up] for up in _up(one, synsets))}" for one in sorted(kept))
    words = (f"{word}\t{' '.join(names[sense] for sense in some)}" for word, some in sorted(senses.items()))
    plurals = (f"{form}\t{base}" for form, base in _exceptions(_lines(folder / "noun.exc")) if base in senses)
    blocks = (HEAD, *("\n".join(block) for block in (meanings, words, sorted(set(plurals)))))
    return "\n\n".join(blocks) + "\n"


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if not line.startswith("  "))


def _synsets(lines: Iterable[str]) -> Iterator[tuple[str, Synset]]:
    """Lines of data.noun: offset file type count (word id)... count (pointer offset pos part)... | gloss."""
    for line in lines:
        fields = line.partition("|")[0].split()
        words_end = 4 + 2 * int(fields[3], 16)
        words = tuple(zip(fields[4:words_end:2], fields[5:words_end:2], strict=True))
        pointers = [fields[at : at + 2] for at in range(words_end + 1, len(fields) - 3, 4)]
        broader = tuple(offset for kind, offset in pointers if kind == "@")
        yield fields[0], Synset(fields[1], words, broader, any(kind == INSTANCE for kind, _ in pointers))


def _counts(lines: Iterable[str]) -> Mapping[str, int]:
    """How often each sense was met in WordNet's tagged texts, by sense key."""
    found = (line.split() for line in lines)
    return {key: int(count) for key, _, count in found if "%1:" in key}


def _senses(lines: Iterable[str], synsets: Mapping[str, Synset], counts: Mapping[str, int]) -> dict[str, list[str]]:
    """The visible senses of each word, the commonest first; words that mostly mean something else are left out."""
    rows = [line.split() for line in lines]
    known = {row[0] for row in rows}
    found: dict[str, list[str]] = {}
    for word, *fields in rows:
        offsets = [offset for offset in fields[-int(fields[1]) :] if not synsets[offset].instance]
        used = {offset: _used(word, synsets[offset], counts) for offset in offsets}
        visible = [offset for offset in offsets if _is_visible(offset, synsets[offset], word, known)]
        if visible and _mostly_seen(offsets, visible, used):
            found[word.replace("_", " ")] = _main(visible, used)
    return found


def _used(word: str, synset: Synset, counts: Mapping[str, int]) -> int:
    ids = [number for written, number in synset.words if written.lower() == word]
    return sum(counts.get(f"{word}%1:{synset.file}:{int(number, 16):02d}::", 0) for number in ids)


def _is_visible(offset: str, synset: Synset, word: str, known: set[str]) -> bool:
    """A noun of everyday words; names of genera, and of species in Latin, aren't."""
    if synset.file not in VISIBLE and offset not in TOPS:
        return False
    written = next(text for text, _ in synset.words if text.lower() == word)
    parts = word.split("_")
    if len(parts) > MOST_WORDS and "and" not in parts:
        return False
    return written.islower() or (len(parts) > 1 and parts[-1] in known and written.rpartition("_")[2].islower())


def _mostly_seen(offsets: list[str], visible: list[str], used: Mapping[str, int]) -> bool:
    """By the uses counted; where they are too few to tell, by the first meaning or most meanings."""
    total = sum(used.values())
    if total >= FEWEST_USES:
        return sum(used[offset] for offset in visible) * 2 >= total
    return offsets[0] in visible or len(visible) * 2 >= len(offsets)


def _main(visible: list[str], used: Mapping[str, int]) -> list[str]:
    ordered = sorted(visible, key=lambda offset: -used[offset])
    least = SHARE * used[ordered[0]]
    return [offset for offset in ordered[:MOST_SENSES] if used[offset] >= least]


def _up(offset: str, synsets: Mapping[str, Synset]) -> tuple[str, ...]:
    return () if offset in TOPS else synsets[offset].broader


def _with_broader(some: set[str], synsets: Mapping[str, Synset]) -> set[str]:
    kept, waiting = set(some), list(some)
    while waiting:
        for broader in _up(waiting.pop(), synsets):
            if broader not in kept:
                kept.add(broader)
                waiting.append(broader)
    return kept


def _exceptions(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Irregular plurals: "geese goose"; of several singulars the first."""
    seen: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        form, *bases = line.split()
        seen[form].extend(bases)
    yield from ((form.replace("_", " "), bases[0].replace("_", " ")) for form, bases in seen.items())


def _short(number: int) -> str:
    """The number in base 36, of one width, so that order of text is order of number."""
    digits = ""
    for _ in range(ID_WIDTH):
        number, rest = divmod(number, 36)
        digits = DIGITS[rest] + digits
    if number:
        raise ValueError("There are more meanings than ids.")
    return digits


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
