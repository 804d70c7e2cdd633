"""Addresses of people's work."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path

from annotate.views import labels, people

_people: list[URLPattern | URLResolver] = [
    path("", people.home, name="home"),
    path("account/sign-in/", people.SignIn.as_view(), name="sign_in"),
    path("account/sign-out/", LogoutView.as_view(), name="sign_out"),
    path("account/password/", people.PasswordChange.as_view(), name="password_change"),
    path("people/", people.people_list, name="people"),
    path("people/new/", people.person_new, name="person_new"),
    path("people/<int:pk>/deactivate/", people.person_deactivate, name="person_deactivate"),
    path("people/<int:pk>/reactivate/", people.person_reactivate, name="person_reactivate"),
    path("people/<int:pk>/password/", people.person_password, name="person_password"),
]

_labels: list[URLPattern | URLResolver] = [
    path("label/", labels.label_home, name="label_home"),
    path("label/<int:pk>/", labels.label_set, name="label_set"),
    path("label/<int:pk>/submit/", labels.label_submit, name="label_submit"),
    path("label/<int:pk>/join/", labels.label_join, name="label_join"),
    path("label/<int:pk>/<uuid:task>/", labels.label_task, name="label_task"),
]

urlpatterns: list[URLPattern | URLResolver] = [*_people, *_labels]
