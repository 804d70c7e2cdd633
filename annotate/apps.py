from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"
    verbose_name = "People's work"

    def ready(self) -> None:
        from fpco_site.llm.engine import register  # has models of its own, so only now

        register("annotate.services.drafting_work.DraftWork")
        register("annotate.services.variant_check_work.VariantCheckWork")
