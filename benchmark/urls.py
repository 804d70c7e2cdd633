"""Addresses of machines' work."""

from django.urls import URLPattern, URLResolver, path

from benchmark.views import results

urlpatterns: list[URLPattern | URLResolver] = [
    # results
    path("results/", results.page, name="results"),
    path("results/<int:pk>/tables/<str:measure>.csv", results.table_csv, name="results_table"),
]
