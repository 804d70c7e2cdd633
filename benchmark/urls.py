"""Addresses of machines' work."""

from django.urls import URLPattern, URLResolver, path

from benchmark.views import agreement, releases, results, validation

urlpatterns: list[URLPattern | URLResolver] = [
    # results
    path("results/", results.page, name="results"),
    path("results/<int:pk>/tables/<str:measure>.csv", results.table_csv, name="results_table"),
    # releases
    path("releases/", releases.release_list, name="release_list"),
    path("releases/new/", releases.release_new, name="release_new"),
    path("releases/<int:pk>/", releases.release_detail, name="release_detail"),
    path("releases/<int:pk>/again/", releases.release_again, name="release_again"),
    path("releases/<int:pk>/zip/", releases.release_download, name="release_download"),
    # validation and agreement
    path("agreement/", agreement.agreement, name="agreement"),
    path("agreement/<int:pk>/", agreement.agreement_set, name="agreement_set"),
    path("validation/", validation.validation_list, name="validation_list"),
    path("validation/new/", validation.validation_new, name="validation_new"),
    path("validation/<int:pk>/", validation.validation_detail, name="validation_detail"),
    path("validation/<int:pk>/close/", validation.validation_close, name="validation_close"),
]
