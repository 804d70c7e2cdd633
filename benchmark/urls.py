"""Addresses of machines' work."""

from django.urls import URLPattern, URLResolver, path

from benchmark.views import agreement, results, validation

urlpatterns: list[URLPattern | URLResolver] = [
    # results
    path("results/", results.page, name="results"),
    path("results/<int:pk>/tables/<str:measure>.csv", results.table_csv, name="results_table"),
    # validation and agreement
    path("agreement/", agreement.agreement, name="agreement"),
    path("agreement/<int:pk>/", agreement.agreement_set, name="agreement_set"),
    path("validation/", validation.validation_list, name="validation_list"),
    path("validation/new/", validation.validation_new, name="validation_new"),
    path("validation/<int:pk>/", validation.validation_detail, name="validation_detail"),
    path("validation/<int:pk>/close/", validation.validation_close, name="validation_close"),
]
