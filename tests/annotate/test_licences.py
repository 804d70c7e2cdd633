"""What the name and the address of a licence mean for a release."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.licences import SENTENCES, Kind, classify, sentence

CC = "http://creativecommons.org/licenses"
OPEN = [
    ("CC BY 2.0", ""),
    ("CC-BY-2.0", ""),
    ("cc by-sa 4.0 International", ""),
    ("CC BY-NC-SA 2.0", ""),
    ("BY-NC", ""),
    ("Creative Commons Attribution 2.0 Generic", ""),
    ("Attribution-NonCommercial-ShareAlike License", f"{CC}/by-nc-sa/2.0/"),
    ("Attribution-NonCommercial License", f"{CC}/by-nc/2.0/"),
    ("Attribution License", f"{CC}/by/2.0/"),
    ("Attribution-ShareAlike License", f"{CC}/by-sa/2.0/"),
    ("No known copyright restrictions", "http://flickr.com/commons/usage/"),
    ("United States Government Work", "http://www.usa.gov/copyright.shtml"),
    ("", "https://creativecommons.org/licenses/by/2.0/"),
    ("", "creativecommons.org/licenses/by-sa/3.0/de/legalcode"),
    ("https://creativecommons.org/licenses/by/2.0/", ""),
    ("CC0", ""),
    ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    ("CC Zero", ""),
    ("CC_BY_4.0", ""),
    ("Public domain", ""),
    ("Public Domain Mark 1.0", "https://creativecommons.org/publicdomain/mark/1.0/"),
    ("PD-USGov", ""),
    ("U.S. Government Work", ""),
    ("US government works", ""),
    ("NASA", ""),
    ("NASA image", ""),
    ("LGPL-3.0", "https://www.gnu.org/licenses/lgpl-3.0.html"),
    ("CC BY 2.0", "https://example.org/licence-of-this-house"),
]
NO_DERIVATIVES = [
    ("Attribution-NonCommercial-NoDerivs License", f"{CC}/by-nc-nd/2.0/"),
    ("Attribution-NoDerivs License", f"{CC}/by-nd/2.0/"),
    ("CC BY-ND 4.0", ""),
    ("CC-BY-NC-ND", ""),
    ("Attribution - No Derivatives 4.0", ""),
    ("cc by nc nd", ""),
    ("", "https://creativecommons.org/licenses/by-nc-nd/4.0/deed.fr"),
    ("CC BY 2.0", "https://creativecommons.org/licenses/by-nd/2.0/"),
    ("CC BY-ND 2.0", "https://creativecommons.org/licenses/by/2.0/"),
    ("All rights reserved", "https://creativecommons.org/licenses/by-nd/2.0/"),
]
UNKNOWN = [
    ("", ""),
    ("   ", ""),
    ("unknown", ""),
    ("?", "https://example.org/"),
    ("All rights reserved", ""),
    ("All Rights Reserved", "https://creativecommons.org/licenses/by/2.0/"),
    ("© Jo Photographer, contribution", ""),
    ("Getty Images", "https://www.gettyimages.com/eula"),
    ("standard licence", "https://notcreativecommons.org/licenses/by/2.0/"),
    ("", "https://creativecommons.org/"),
    ("", "https://creativecommons.org/licenses/"),
    ("permission by mail", ""),
    ("Creative Commons", ""),
    ("for research only", ""),
    ("attribution required, ask first", ""),
    ("not in the public domain", ""),
]


@pytest.mark.parametrize(
    ("name", "url", "kind"),
    [
        *((*pair, Kind.OPEN) for pair in OPEN),
        *((*pair, Kind.NO_DERIVATIVES) for pair in NO_DERIVATIVES),
        *((*pair, Kind.UNKNOWN) for pair in UNKNOWN),
    ],
)
def test_a_licence_is_known_in_all_its_spellings(name: str, url: str, kind: Kind) -> None:
    assert classify(name, url) == kind


def test_every_photograph_of_the_demo_may_be_released() -> None:
    table = Path(__file__).parents[2] / "benchmark" / "demo" / "photos.csv"
    with table.open(encoding="utf-8", newline="") as file:
        kinds = {row["file"]: classify(row["license"], row["license_url"]) for row in csv.DictReader(file)}
    assert set(kinds.values()) == {Kind.OPEN}


def test_what_is_left_out_says_why() -> None:
    assert sentence("CC BY 2.0") == ""
    assert "no derivatives" in sentence("CC BY-ND 2.0")
    assert "not known" in sentence("")


@given(st.text(), st.text())
def test_any_text_has_one_kind_and_one_sentence(name: str, url: str) -> None:
    assert sentence(name, url) == SENTENCES[classify(name, url)]


@given(st.sampled_from(["by", "by-sa", "by-nc", "by-nc-sa"]), st.sampled_from(["1.0", "2.0", "2.5", "3.0", "4.0"]))
def test_no_derivatives_is_found_in_whatever_it_is_added_to(parts: str, version: str) -> None:
    for spelling in (str, str.upper, str.title):
        assert classify(spelling(f"CC {parts} {version}")) == Kind.OPEN
        assert classify(spelling(f"CC {parts}-nd {version}")) == Kind.NO_DERIVATIVES
        assert classify("", f"{CC}/{parts}/{version}/") == Kind.OPEN
        assert classify("", f"{CC}/{parts}-nd/{version}/") == Kind.NO_DERIVATIVES
