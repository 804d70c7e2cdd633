from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "fpco_site.llm"
    label = "llm"
    verbose_name = "Language models"
