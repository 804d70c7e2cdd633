from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    verbose_name = "Machines' work"

    def ready(self) -> None:
        from fpco_site.llm import engine

        engine.register("benchmark.services.dialogue_work.DialogueWork")
        engine.register("benchmark.services.detection_work.DetectionWork")
        engine.register("benchmark.services.connection_work.ConnectionWork")
