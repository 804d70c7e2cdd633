"""The catalogue: the study's twenty models and two detectors, and one clear sentence for each mistake."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from fpco_site.errors import Invalid
from fpco_site.llm import catalogue, settings_rules

ROOT = Path(__file__).parents[3]
SHIPPED = (ROOT / "models.toml").read_text(encoding="utf-8")
PUBLISHED = (ROOT / "benchmark/published/corr_tp.csv").read_text(encoding="utf-8").splitlines()[1:]
ENTRY = """[[model]]
name = "GPT-4.1"
family = "GPT"
provider = "openai"
model_id = "gpt-4.1"
"""


def test_the_shipped_models_are_the_published_ones() -> None:
    models = catalogue.parse(SHIPPED).models

    assert {entry.name for entry in models} == {line.split(",")[0] for line in PUBLISHED}
    assert len(models) == 20
    assert {entry.family for entry in models} == {"Gemini", "GPT", "Qwen", "InternVL", "LLaVA"}


def test_the_shipped_detectors_are_the_studys_two() -> None:
    gpt, gemini = catalogue.parse(SHIPPED).detectors

    assert (gpt.slug, gpt.name, gpt.provider, gpt.temperature) == ("gpt", "GPT-5.4", "openai", None)
    assert (gemini.slug, gemini.name, gemini.provider) == ("gemini", "Gemini-3.1-Pro-Preview", "gemini")
    assert (gemini.temperature, gemini.top_p, gemini.max_output_tokens) == (0.0, 1.0, 8192)


def test_the_shipped_settings_are_the_studys_by_interface() -> None:
    for entry in catalogue.parse(SHIPPED).models:
        usual = settings_rules.defaults(entry.provider, entry.model_id)
        assert (entry.max_output_tokens, entry.temperature, entry.top_p) == (
            usual.max_output_tokens,
            usual.temperature,
            usual.top_p,
        ), entry.name


def test_models_with_open_weights_are_local() -> None:
    models = catalogue.parse(SHIPPED).models

    local = {entry.name for entry in models if entry.provider == "transformers"}
    assert local == {entry.name for entry in models if re.match(r"Qwen2\.5-VL|InternVL|LLaVA", entry.name)}
    assert len(local) == 10


@pytest.mark.parametrize(
    ("provider", "model_id", "settings"),
    [
        ("gemini", "gemini-2.5-flash", (256, 0.0, 1.0)),
        ("gemini", "gemini-2.5-pro", (1024, 0.0, 1.0)),
        ("gemini", "gemini-3.1-pro-preview", (1024, 0.0, 1.0)),
        ("openai", "gpt-4o", (256, None, None)),
        ("openai", "gpt-5", (512, None, None)),
        ("openai", "gpt-5.4", (512, None, None)),
        ("openai_compatible", "qwen-vl-max", (256, None, None)),
        ("transformers", "OpenGVLab/InternVL2_5-2B", (256, 0.0, None)),
    ],
)
def test_an_entry_without_settings_takes_the_studys(
    provider: str, model_id: str, settings: tuple[int, float | None, float | None]
) -> None:
    usual = settings_rules.defaults(provider, model_id)

    assert (usual.max_output_tokens, usual.temperature, usual.top_p) == settings


def test_an_entry_says_more_than_the_defaults() -> None:
    (entry,) = catalogue.parse(
        ENTRY
        + 'base_url = "http://127.0.0.1:1/v1"\napi_key_env = "MY_KEY"\nmax_output_tokens = 300\ntemperature = 1\n'
        + "top_p = 0.9\nconcurrency = 16\nprice_input = 0.1\nprice_cached_input = 0\nprice_output = 8\n"
        + "options = { body = { reasoning = { effort = 'low' } }, scale = 0.5 }\n"
    ).models

    assert (entry.price_input, entry.price_cached_input, entry.price_output) == (Decimal("0.1"), 0, 8)
    assert entry.concurrency == 16
    where = entry.endpoint()
    assert (where.base_url, where.api_key_env) == ("http://127.0.0.1:1/v1", "MY_KEY")
    assert (where.max_output_tokens, where.temperature, where.top_p) == (300, 1.0, 0.9)
    assert where.options == {"body": {"reasoning": {"effort": "low"}}, "scale": 0.5}


def test_an_empty_catalogue_is_empty() -> None:
    assert catalogue.parse("") == catalogue.Catalogue((), ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[model]]\nname = "A\n', "not valid TOML: .*line 2"),
        (ENTRY + "name = 'B'\n", "not valid TOML: .*line 6"),
        ("[[models]]\n", "'models' is none"),
        ("[model]\nname = 'A'\n", "double brackets"),
        ("model = ['A']\n", "double brackets"),
        ("[[model]]\nname = 'A'\n", r"\[\[model\]\] number 1 \('A'\) lacks the field 'family'"),
        ("[[detector]]\nname = 'A'\n", "lacks the field 'slug'"),
        (ENTRY + "seed = 1\n", "number 1 .'GPT-4.1'. has an unknown field 'seed'"),
        (ENTRY + "slug = 'gpt'\n", "unknown field 'slug'"),
        (ENTRY.replace('"openai"', '"opnai"'), "unknown provider 'opnai'; known are openai, gemini"),
        (ENTRY.replace('"openai"', '"openai_compatible"'), "needs a 'base_url'"),
        (ENTRY.replace('"gpt-4.1"', '""'), "'model_id' must be a text"),
        (ENTRY.replace('"gpt-4.1"', "41"), "'model_id' must be a text"),
        (ENTRY + "max_output_tokens = 0\n", "'max_output_tokens' must be a whole number from 1"),
        (ENTRY + "max_output_tokens = 2.5\n", "'max_output_tokens' must be a whole number"),
        (ENTRY + "max_output_tokens = true\n", "'max_output_tokens' must be a whole number"),
        (ENTRY + "temperature = 'hot'\n", "'temperature' must be a number from 0 to 2"),
        (ENTRY + "temperature = nan\n", "'temperature' must be a number from 0 to 2"),
        (ENTRY + "top_p = 1.1\n", "'top_p' must be a number from 0 to 1"),
        (ENTRY + "concurrency = -1\n", "'concurrency' must be a whole number"),
        (ENTRY + "price_input = -0.1\n", "'price_input' must be a price"),
        (ENTRY + "price_output = inf\n", "'price_output' must be a price"),
        (ENTRY + "base_url = 'api.openai.com'\n", "'base_url' must start with http"),
        (ENTRY + "options = { when = 2026-01-01 }\n", "'options' must be a table of plain values"),
        (ENTRY + ENTRY, r"two \[\[model\]\] entries with the name 'GPT-4.1'"),
        ("[[detector]]\nslug = 'No Slug'\nname = 'A'\nprovider = 'rules'\nmodel_id = 'r'\n", "'slug' must be lower"),
    ],
)
def test_a_mistake_gets_one_clear_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence) as caught:
        catalogue.parse(text)

    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message


def test_a_key_that_was_pasted_is_not_repeated() -> None:
    with pytest.raises(Invalid, match="'api_key_env' must name an environment variable") as caught:
        catalogue.parse(ENTRY + "api_key_env = 'sk-secret-1'\n")

    assert "sk-secret-1" not in caught.value.message
