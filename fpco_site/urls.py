"""All addresses of the site."""

from django.urls import include, path

from fpco_site import api

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("benchmark.urls")),
    path("api/v1/", include(api.urlpatterns)),
]
