"""Sign-in, one's own password, and the people of the study."""

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.messages.views import SuccessMessageMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.forms.people import PersonForm, SignInForm
from annotate.models.people import User
from annotate.permissions import author_required, person_of
from annotate.services import people
from fpco_site import navigation
from fpco_site.errors import FpcoError


class SignIn(auth.LoginView):
    authentication_form = SignInForm
    template_name = "annotate/sign_in.html"
    next_page = "home"
    redirect_authenticated_user = True


class PasswordChange(SuccessMessageMixin, auth.PasswordChangeView):  # type: ignore[type-arg]
    template_name = "annotate/password_change.html"
    success_url = reverse_lazy("home")
    success_message = "Your password is changed."


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """To the first section that this person may open."""
    sections = navigation.links(role=person_of(request).role, path=request.path)
    if not sections:
        raise Http404
    return redirect(sections[0].url)


@require_safe
@author_required
def people_list(request: HttpRequest) -> HttpResponse:
    rows = User.objects.order_by("-is_active", "imported", "username")
    return render(request, "annotate/people.html", {"people": rows})


@never_cache
@author_required
def person_new(request: HttpRequest) -> HttpResponse:
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            person, secret = people.create(**form.cleaned_data)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            return _show_once(request, person, secret)
    return render(request, "annotate/person_new.html", {"form": form})


@require_POST
@author_required
def person_deactivate(request: HttpRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(User, pk=pk)
    people.deactivate(person=person, by=person_of(request))
    messages.success(request, f"{person.username} can't sign in any more. What they did stays.")
    return redirect("people")


@require_POST
@author_required
def person_reactivate(request: HttpRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(User, pk=pk)
    people.reactivate(person=person, by=person_of(request))
    messages.success(request, f"{person.username} can sign in again.")
    return redirect("people")


@require_POST
@author_required
def person_delete(request: HttpRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(User, pk=pk)
    people.delete(person=person, by=person_of(request))
    messages.success(request, f"The account {person.username} is deleted; nothing rested on it.")
    return redirect("people")


@never_cache
@require_POST
@author_required
def person_password(request: HttpRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(User, pk=pk)
    return _show_once(request, person, people.reset_password(person=person, by=person_of(request)))


def _show_once(request: HttpRequest, person: User, secret: str) -> HttpResponse:
    """The reply itself carries the password: a redirect would have to store it."""
    return render(request, "annotate/person_password.html", {"person": person, "secret": secret})
