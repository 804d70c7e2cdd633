"""Addresses of machines' work."""

from django.urls import URLPattern, URLResolver, path, register_converter
from django.urls.converters import StringConverter

from benchmark.figures import REGISTER
from benchmark.models.connections import SUBJECTS
from benchmark.views import (
    adjudication,
    agreement,
    analyses,
    blindness,
    cases,
    closing,
    connections,
    costs,
    detector_agreement,
    detectors,
    dialogues,
    figures,
    label_files,
    leaderboard,
    models,
    overview,
    releases,
    reports,
    results,
    runs,
    second_reviews,
    tables,
    validation,
)


class SubjectConverter(StringConverter):
    """What a connection test is of."""

    regex = "|".join(SUBJECTS)


class FigureConverter(StringConverter):
    """A figure by its slug."""

    regex = "|".join(REGISTER)


class FigureFormConverter(StringConverter):
    """What a figure is taken away as."""

    regex = "|".join(figures.TYPES)


register_converter(SubjectConverter, "subject")
register_converter(FigureConverter, "figure")
register_converter(FigureFormConverter, "figure_form")

urlpatterns: list[URLPattern | URLResolver] = [
    # overview
    path("overview/", overview.page, name="overview"),
    # second reviews
    path("second-reviews/", second_reviews.second_reviews, name="second_reviews"),
    # models
    path("models/", models.model_list, name="model_list"),
    path("models/new/", models.model_new, name="model_new"),
    path("models/load/", models.model_load, name="model_load"),
    path("models/<int:pk>/", models.model_detail, name="model_detail"),
    path("models/<int:pk>/edit/", models.model_edit, name="model_edit"),
    # connections
    path("connections/", connections.connection_list, name="connection_list"),
    path("connections/live/", connections.connection_live, name="connection_live"),
    path("connections/all/", connections.connection_request_all, name="connection_request_all"),
    path("connections/<int:pk>/", connections.connection_detail, name="connection_detail"),
    path("connections/<int:pk>/live/", connections.connection_one_live, name="connection_one_live"),
    path("connections/<int:pk>/picture.png", connections.connection_picture, name="connection_picture"),
    path("connections/<int:pk>/leave-out/", connections.connection_leave_out, name="connection_leave_out"),
    path("connections/<subject:kind>/<int:pk>/test/", connections.connection_request, name="connection_request"),
    path("connections/<subject:kind>/<int:pk>/send/", connections.connection_send_again, name="connection_send_again"),
    # detectors
    path("detectors/", detectors.detector_list, name="detector_list"),
    path("detectors/new/", detectors.detector_new, name="detector_new"),
    path("detectors/ask/", detectors.detector_ask, name="detector_ask"),
    path("detectors/<int:pk>/", detectors.detector_detail, name="detector_detail"),
    path("detectors/<int:pk>/live/", detectors.detector_live, name="detector_live"),
    path("detectors/<int:pk>/version/", detectors.detector_version, name="detector_version"),
    path("detectors/<int:pk>/request/", detectors.detector_request, name="detector_request"),
    # runs
    path("runs/", runs.run_list, name="run_list"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/new/estimate/", runs.run_estimate, name="run_estimate"),
    path("runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<int:pk>/live/", runs.run_live, name="run_live"),
    path("runs/<int:pk>/start/", runs.run_start, name="run_start"),
    path("runs/<int:pk>/pause/", runs.run_pause, name="run_pause"),
    path("runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<int:pk>/change/", runs.run_change, name="run_change"),
    path("runs/<int:pk>/stop/", runs.run_stop, name="run_stop"),
    path("runs/<int:pk>/retry/", runs.run_retry, name="run_retry"),
    path("runs/<int:pk>/dialogues/", dialogues.run_dialogues, name="run_dialogues"),
    path("runs/<int:pk>/answers/", dialogues.run_answers, name="run_answers"),
    path("runs/<int:pk>/errors/", dialogues.run_errors, name="run_errors"),
    path("detection-jobs/<int:pk>/pause/", detectors.job_pause, name="job_pause"),
    path("detection-jobs/<int:pk>/resume/", detectors.job_resume, name="job_resume"),
    path("detection-jobs/<int:pk>/retry/", detectors.job_retry, name="job_retry"),
    path("datasets/<int:pk>/runs/", detectors.dataset_runs, name="dataset_runs"),
    # costs
    path("runs/costs/", costs.cost_list, name="cost_list"),
    path("runs/costs.csv", costs.cost_csv, name="cost_csv"),
    path("runs/<int:pk>/prices/", costs.run_prices, name="run_prices"),
    path("detection-jobs/<int:pk>/prices/", costs.job_prices, name="job_prices"),
    # dialogues
    path("dialogues/<int:pk>/", dialogues.dialogue_detail, name="dialogue_detail"),
    path("dialogues/<int:pk>/raw/<int:turn>/", dialogues.response_raw, name="response_raw"),
    path("attempts/<int:pk>/", dialogues.attempt_detail, name="attempt_detail"),
    path("attempts/<int:pk>/raw/", dialogues.attempt_raw, name="attempt_raw"),
    # results
    path("results/", results.page, name="results"),
    path("results/leaderboard/", leaderboard.page, name="leaderboard"),
    path("results/leaderboard.csv", leaderboard.table_csv, name="leaderboard_csv"),
    path("results/cell/", leaderboard.cell, name="results_cell"),
    path("results/<int:pk>/numbers.csv", results.numbers_csv, name="results_numbers"),
    path("results/<int:pk>/coverage.csv", results.coverage_csv, name="results_coverage"),
    # tables
    path("results/tables/", tables.table_page, name="tables"),
    path("results/<int:pk>/tables/<slug:slug>.<slug:form>", tables.table_file, name="results_table"),
    # analyses
    path("results/analyses/", analyses.analysis_list, name="analysis_list"),
    path("results/analyses/<int:pk>/", analyses.analysis_detail, name="analysis_detail"),
    path("results/analyses/<int:pk>/all.json", analyses.analysis_json, name="analysis_json"),
    path("results/analyses/<int:pk>/table-<int:number>.csv", analyses.analysis_table, name="analysis_table"),
    path("results/analyses/<int:pk>/figure-<int:number>.<str:form>", analyses.analysis_figure, name="analysis_figure"),
    path("results/analyses/<slug:kind>/run/", analyses.analysis_run, name="analysis_run"),
    path("results/figures/", figures.figure_list, name="figures"),
    path("results/figures/<figure:slug>/", figures.figure, name="figure"),
    path("results/<int:pk>/figures/<figure:slug>.<figure_form:form>", figures.figure_file, name="figure_file"),
    # reports
    path("results/report/", reports.report_page, name="report"),
    path("results/<int:pk>/report/new/", reports.report_new, name="report_new"),
    path("results/reports/<int:pk>/again/", reports.report_again, name="report_again"),
    path("results/reports/<int:pk>.<slug:form>", reports.report_file, name="report_file"),
    # case studies, and all models side by side
    path("results/cases/", cases.case_list, name="case_list"),
    path("results/cases/new/", cases.case_new, name="case_new"),
    path("results/cases/pin/", cases.case_pin, name="case_pin"),
    path("results/cases/<int:pk>/", cases.case_detail, name="case_detail"),
    path("results/cases/<int:pk>/edit/", cases.case_edit, name="case_edit"),
    path("results/cases/<int:pk>/move/", cases.case_move, name="case_move"),
    path("results/cases/<int:pk>/unpin/", cases.case_unpin, name="case_unpin"),
    path("results/cases/<int:pk>/delete/", cases.case_delete, name="case_delete"),
    path("results/cases/<int:pk>/export.html", cases.case_file, {"form": "html"}, name="case_html"),
    path("results/cases/<int:pk>/export.md", cases.case_file, {"form": "md"}, name="case_markdown"),
    path("results/items/", cases.side_items, name="side_items"),
    path("results/items/<int:pk>/", cases.item_sides, name="item_sides"),
    # releases
    path("releases/", releases.release_list, name="release_list"),
    path("releases/new/", releases.release_new, name="release_new"),
    path("releases/<int:pk>/", releases.release_detail, name="release_detail"),
    path("releases/<int:pk>/again/", releases.release_again, name="release_again"),
    path("releases/<int:pk>/zip/", releases.release_download, name="release_download"),
    # validation and agreement
    path("agreement/", agreement.agreement, name="agreement"),
    path("agreement/<int:pk>/", agreement.agreement_set, name="agreement_set"),
    path("agreement/<int:pk>/answers/", agreement.agreement_answers_page, name="agreement_answers"),
    path("agreement/<int:pk>/numbers/<str:what>.csv", agreement.agreement_numbers, name="agreement_numbers"),
    path("agreement/<int:pk>/kappa.<str:form>", agreement.agreement_table, name="agreement_table"),
    path("agreement/detectors/", detector_agreement.detector_agreement, name="detector_agreement"),
    path("agreement/detectors/<int:pk>/", detector_agreement.detector_agreement_of, name="detector_agreement_of"),
    path("agreement/detectors/<int:pk>/answers/", detector_agreement.detector_answers, name="detector_answers"),
    path("agreement/detectors/<int:pk>/numbers.csv", detector_agreement.detector_numbers, name="detector_numbers"),
    path("agreement/detectors/<int:pk>/table.<str:form>", detector_agreement.detector_table, name="detector_table"),
    path("validation/", validation.validation_list, name="validation_list"),
    path("validation/new/", validation.validation_new, name="validation_new"),
    path("validation/<int:pk>/", validation.validation_detail, name="validation_detail"),
    path("validation/<int:pk>/repeat/", validation.validation_repeat, name="validation_repeat"),
    path("validation/<int:pk>/close/", closing.validation_close, name="validation_close"),
    path("validation/<int:pk>/blindness/", blindness.blindness_report, name="blindness_report"),
    path("validation/<int:pk>/blindness.pdf", blindness.blindness_pdf_file, name="blindness_pdf"),
    # decisions on disagreements: pages of annotate, whose views are recorded here
    path("label/decisions/", adjudication.adjudication_list, name="adjudication_list"),
    path("label/<int:pk>/decisions/", adjudication.adjudication_set, name="adjudication_set"),
    path("label/<int:pk>/decisions/<uuid:task>/", adjudication.adjudication_task, name="adjudication_task"),
    path("validation/<int:pk>/labels.<slug:kind>", label_files.validation_export, name="validation_export"),
    path("validation/<int:pk>/import/", label_files.validation_import, name="validation_import"),
    path("validation/<int:pk>/import/store/", label_files.validation_store, name="validation_store"),
]
