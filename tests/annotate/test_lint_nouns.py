"""What the lint knows of nouns, and how its table is made."""

import gzip

import pytest

from annotate.linting import nouns
from annotate.linting.labels import Fit, fit
from fpco_site.devtools import build_nouns


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        *[(old, new, Fit.CLEAR) for old, new in (
            ("dog", "cat"), ("car", "truck"), ("bus", "truck"), ("woman", "man"), ("girl", "boy"), ("pizza", "cake"),
            ("apple", "orange"), ("horse", "zebra"), ("lion", "cat"), ("chef", "waiter"), ("crane", "fox"),
            ("hot dog", "cat"), ("airplane", "helicopter"), ("bicycle", "motorcycle"), ("skier", "snowboarder"),
        )],
        *[(old, new, Fit.SOFT) for old, new in (
            ("bus", "vehicle"), ("dog", "poodle"), ("dog", "animal"), ("woman", "girl"), ("man", "boy"),
            ("person", "woman"), ("adult", "man"), ("lady", "woman"), ("car", "automobile"), ("truck", "lorry"),
            ("dogs", "dog"), ("women", "girls"), ("geese", "birds"), ("couch", "sofa"), ("kid", "child"),
            ("fruit", "apple"), ("drink", "coffee"), ("mouse", "rodent"),
        )],
        *[(old, new, Fit.NEAR) for old, new in (
            ("boat", "ship"), ("hen", "rooster"), ("car", "van"), ("crane", "bird"), ("cup", "mug"), ("woman", "child"),
        )],
        *[(old, new, Fit.COMPATIBLE) for old, new in (("woman", "cyclist"), ("chef", "man"), ("child", "skier"))],
    ],
)  # fmt: skip
def test_two_labels_fit_as_a_premise_or_do_not(old, new, expected):
    assert fit(old, new).fit is expected
    assert fit(new, old).fit is expected


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("dogs", "dog"), ("buses", "bus"), ("puppies", "puppy"), ("women", "woman"), ("geese", "goose"),
        ("calves", "calf"), ("knives", "knife"), ("firemen", "fireman"), ("fire trucks", "fire truck"), ("bus", "bus"),
        ("glasses", "glasses"), ("zzz", "zzz"), ("", ""),
    ],
)  # fmt: skip
def test_a_plural_has_its_singular(form, base):
    assert nouns.singular(form) == base


@pytest.mark.parametrize("word", ["", " ", "\n", "\t", "0", "ß", "a\tb", "zzzzzz", "~"])
def test_a_word_that_the_table_lacks_is_no_noun(word):
    assert not nouns.is_noun(word)
    assert nouns.kind(word) == ""
    assert nouns.related(word, "dog").relation is nouns.Relation.NONE


def test_each_line_of_the_table_is_found():
    blocks = gzip.decompress(nouns.TABLE.read_bytes()).decode().rstrip("\n").split("\n\n")[1:]
    table = nouns.table()
    for text, block in zip(blocks, (table.broader, table.senses, table.singulars), strict=True):
        lines = text.split("\n")
        for line in (lines[0], *lines[:: max(len(lines) // 200, 1)], lines[-1]):
            key, _, values = line.partition("\t")
            assert block.get(key) == values


def test_the_table_is_small_and_has_its_licence_beside_it():
    assert nouns.TABLE.stat().st_size < 600_000
    licence = nouns.TABLE.with_name("nouns.LICENSE").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence


DATA = """\
  1 A line of the licence.
00015388 03 n 01 animal 0 000 | a living thing that moves
00000100 05 n 02 canine 0 Canis 0 001 @ 00015388 n 0000 | dogs and their like
00000200 05 n 02 dog 0 Canis_familiaris 0 001 @ 00000100 n 0000 | barks
00000300 18 n 01 dog 1 000 | a dull person
00000400 07 n 01 luck 0 000 | not to be seen
"""
INDEX = """\
animal n 1 0 1 1 00015388
canine n 1 1 @ 1 0 00000100
canis n 1 1 @ 1 0 00000100
canis_familiaris n 1 1 @ 1 0 00000200
dog n 2 1 @ 2 1 00000200 00000300
luck n 1 0 1 1 00000400
"""


@pytest.fixture
def wordnet(tmp_path):
    for name, text in {
        "data.noun": DATA,
        "index.noun": INDEX,
        "noun.exc": "dawgs dog\nlux luck\n",
        "cntlist.rev": "dog%1:05:00:: 1 42\ndog%1:18:01:: 2 1\nluck%1:07:00:: 1 9\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_table_is_made_of_the_common_senses_of_visible_things_in_everyday_words(wordnet):
    _, broader, words, plurals = build_nouns.table(wordnet).rstrip("\n").split("\n\n")
    assert broader.split("\n") == ["000\t002", "001\t000", "002\t"]
    assert words.split("\n") == ["animal\t002", "canine\t000", "dog\t001"]
    assert plurals == "dawgs\tdog"


def test_the_same_files_make_the_same_bytes(wordnet, capsys):
    for name in ("one.gz", "two.gz"):
        assert build_nouns.main([str(wordnet), str(wordnet / name)]) == 0
    assert (wordnet / "one.gz").read_bytes() == (wordnet / "two.gz").read_bytes()
    assert build_nouns.main([]) == 2
    assert "Give the folder" in capsys.readouterr().err
