"""The sections of the side navigation, and who is shown which."""

from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

AUTHOR, READER, ANNOTATOR = "author", "reader", "annotator"


@dataclass(frozen=True)
class Section:
    """One line of the navigation."""

    url_name: str
    label: str
    icon: str
    roles: frozenset[str]


@dataclass(frozen=True)
class Link:
    """A section as one person sees it on one page."""

    url: str
    label: str
    icon: str
    active: bool


_authors = frozenset({AUTHOR})
_readers = frozenset({AUTHOR, READER})
SECTIONS = (
    Section("overview", "Overview", "overview", _readers),
    Section("image_list", "Images", "image", _authors),
    Section("review_queue", "Review", "review", _authors),
    Section("dataset_list", "Datasets", "dataset", _readers),
    Section("model_list", "Models", "model", _readers),
    Section("run_list", "Runs", "run", _readers),
    Section("label_home", "Label", "label", frozenset({AUTHOR, ANNOTATOR})),
    Section("agreement", "Agreement", "agreement", _readers),
    Section("results", "Results", "results", _readers),
    Section("release_list", "Releases", "release", _readers),
    Section("people", "People", "people", _authors),
)


def links(*, role: str, path: str, section: str = "") -> list[Link]:
    """The navigation of one role, in order; only sections that this site serves.

    The active one is `section` (a url name) where the page names it, else the section whose address
    is the longest start of `path`.
    """
    found = [(entry, url) for entry in SECTIONS if role in entry.roles and (url := _url(entry.url_name))]
    active = (
        section
        or max(
            ((url, entry.url_name) for entry, url in found if _within(path, url)),
            key=lambda pair: len(pair[0]),
            default=("", ""),
        )[1]
    )
    return [Link(url, entry.label, entry.icon, entry.url_name == active) for entry, url in found]


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def _within(path: str, url: str) -> bool:
    return path == url or (url != "/" and path.startswith(url))
