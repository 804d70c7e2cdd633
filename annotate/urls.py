"""Addresses of people's work."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path

from annotate.views import people

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

urlpatterns: list[URLPattern | URLResolver] = [*_people]
