"""Addresses of people's work."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path, register_converter
from django.urls.converters import StringConverter

from annotate.views import (
    comments,
    dataset_history,
    datasets,
    drafters,
    drafting,
    drafts,
    duplicates,
    guidelines,
    histories,
    images,
    imports,
    items,
    label_files,
    labels,
    people,
    pictures,
    placing,
    practice,
    prompts,
    proposals,
    reviews,
    study,
    variant_checks,
    variants,
)


class Sha256Converter(StringConverter):
    """The hash of a picture, and nothing else."""

    regex = "[0-9a-f]{64}"


register_converter(Sha256Converter, "sha256")

_people: list[URLPattern | URLResolver] = [
    path("", people.home, name="home"),
    path("account/sign-in/", people.SignIn.as_view(), name="sign_in"),
    path("account/sign-out/", LogoutView.as_view(), name="sign_out"),
    path("account/password/", people.PasswordChange.as_view(), name="password_change"),
    path("people/", people.people_list, name="people"),
    path("people/new/", people.person_new, name="person_new"),
    path("people/<int:pk>/deactivate/", people.person_deactivate, name="person_deactivate"),
    path("people/<int:pk>/delete/", people.person_delete, name="person_delete"),
    path("people/<int:pk>/reactivate/", people.person_reactivate, name="person_reactivate"),
    path("people/<int:pk>/password/", people.person_password, name="person_password"),
]

_labels: list[URLPattern | URLResolver] = [
    path("label/", labels.label_home, name="label_home"),
    path("label/<int:pk>/", labels.label_set, name="label_set"),
    path("label/<int:pk>/labels.<slug:kind>", label_files.label_export, name="label_export"),
    path("label/<int:pk>/submit/", labels.label_submit, name="label_submit"),
    path("label/<int:pk>/join/", labels.label_join, name="label_join"),
    path("label/<int:pk>/advance/", labels.label_advance, name="label_advance"),
    path("label/<int:pk>/guidelines/", guidelines.label_guidelines, name="label_guidelines"),
    path("label/<int:pk>/guidelines/new/", guidelines.label_guidelines_new, name="label_guidelines_new"),
    path("label/<int:pk>/guidelines/read/", guidelines.label_guidelines_read, name="label_guidelines_read"),
    path("label/<int:pk>/practice/<int:number>/", practice.label_practice, name="label_practice"),
    path("label/<int:pk>/<uuid:task>/", labels.label_task, name="label_task"),
    path("label/<int:pk>/<uuid:task>/flag/", labels.label_flag, name="label_flag"),
]


_images: list[URLPattern | URLResolver] = [
    path("images/<sha256:digest>", pictures.picture, name="picture"),
    path("images/<sha256:digest>/thumb", pictures.thumb, name="thumb"),
    path("images/", images.image_list, name="image_list"),
    path("images/import/", imports.image_import, name="image_import"),
    path("images/import/folder/", imports.image_import_folder, name="image_import_folder"),
    path("images/import/zip/", imports.image_import_zip, name="image_import_zip"),
    path("images/imports/", imports.import_list, name="import_list"),
    path("images/imports/announce/", imports.import_announce, name="import_begin"),
    path("images/imports/<int:pk>/", imports.import_detail, name="import_detail"),
    path("images/imports/<int:pk>/progress/", imports.import_progress, name="import_progress"),
    path("images/imports/<int:pk>/announce/", imports.import_announce, name="import_announce"),
    path("images/imports/<int:pk>/send/", imports.import_send, name="import_send"),
    path("images/imports/<int:pk>/stop/", imports.import_stop, name="import_stop"),
    path("images/imports/<int:pk>/resume/", imports.import_resume, name="import_resume"),
    path("images/duplicates/", duplicates.duplicate_list, name="duplicate_list"),
    path("images/duplicates/<int:pk>/decide/", duplicates.duplicate_decide, name="duplicate_decide"),
    path("images/duplicates/<int:pk>/undo/", duplicates.duplicate_undo, name="duplicate_undo"),
    path("images/place/", placing.placing, name="placing"),
    path("images/place/undo/", placing.placing_undo, name="placing_undo"),
    path("images/<int:pk>/", images.image_detail, name="image_detail"),
    path("images/<int:pk>/place/", images.image_place, name="image_place"),
    path("images/<int:pk>/facts/", images.image_facts, name="image_facts"),
]

_cells: list[URLPattern | URLResolver] = [
    path("cells/", placing.cells_page, name="cells"),
    path("cells/cell/", placing.cell_page, name="cell"),
    path("study/", study.study_settings, name="study_settings"),
]

_items: list[URLPattern | URLResolver] = [
    path("review/", reviews.review_queue, name="review_queue"),
    path("review/<str:key>/", reviews.item_review, name="item_review"),
    path("review/<str:key>/decide/", reviews.item_decide, name="item_decide"),
    path("review/<str:key>/submit/", reviews.item_submit, name="item_submit"),
    path("review/<str:key>/reopen/", reviews.item_reopen, name="item_reopen"),
    path("review/<str:key>/edit/", items.item_edit, name="item_edit"),
    path("review/<str:key>/compute/", items.item_compute, name="item_compute"),
    path("review/<str:key>/check/", items.item_check, name="item_check"),
    path("review/<str:key>/move/", placing.item_move, name="item_move"),
    path("review/<str:key>/undo/", reviews.item_undo, name="item_undo"),
    path("review/<str:key>/unsaved/", items.item_autosave, name="item_autosave"),
    path("review/<str:key>/unsaved/discard/", items.item_discard, name="item_discard"),
    path("review/<str:key>/history/", histories.item_history, name="item_history"),
    path("review/<str:key>/history/<int:version>/restore/", histories.item_restore, name="item_restore"),
    path("review/<str:key>/comments/", comments.comment_add, name="comment_add"),
    path("review/<str:key>/comments/<int:pk>/resolve/", comments.comment_resolve, name="comment_resolve"),
    path("review/<str:key>/comments/<int:pk>/open/", comments.comment_open, name="comment_open"),
    path("review/<str:key>/drafts/", drafts.draft_request, name="draft_request"),
    path("review/<str:key>/drafts/panel/", drafts.draft_panel, name="draft_panel"),
    path("review/<str:key>/drafts/<int:pk>/apply/", drafts.draft_apply, name="draft_apply"),
]

_variants: list[URLPattern | URLResolver] = [
    path("variants/", variants.variant_list, name="variant_list"),
    path("variants/choose/", variants.variant_choose, name="variant_choose"),
    path("variants/draw/", variants.variant_draw, name="variant_draw"),
    path("variants/draft/", variants.variant_draft, name="variant_draft"),
    path("variants/adopt/", variants.variant_adopt, name="variant_adopt"),
    path("variants/freeze/", variants.variant_freeze, name="variant_freeze"),
    path("variants/checks/", variant_checks.variant_checks, name="variant_checks"),
    path("variants/checks/live/", variant_checks.variant_checks_live, name="variant_checks_live"),
    path("variants/checks/stop/", variant_checks.variant_checks_stop, name="variant_checks_stop"),
    path("variants/checks/continue/", variant_checks.variant_checks_continue, name="variant_checks_continue"),
    path("variants/checks/offline/", variant_checks.variant_checkers_offline, name="variant_checkers_offline"),
    path("variants/checks/<int:pk>/", variant_checks.variant_check, name="variant_check"),
    path("variants/checkers/<int:pk>/", variant_checks.variant_checker_family, name="variant_checker_family"),
    path("variants/<str:key>/", variants.variant_parent, name="variant_parent"),
    path("variants/<str:key>/sync/", variants.variant_sync, name="variant_sync"),
    path("variants/<str:key>/submit/", variants.variant_submit, name="variant_submit"),
    path("variants/<str:key>/use/<int:pk>/", variants.variant_use, name="variant_use"),
    path("variants/<str:key>/aside/", variants.variant_aside, name="variant_aside"),
]

_drafting: list[URLPattern | URLResolver] = [
    path("drafting/", drafting.drafting_list, name="drafting_list"),
    path("drafting/estimate/", drafting.drafting_estimate, name="drafting_estimate"),
    path("drafting/live/", drafting.drafting_live, name="drafting_live"),
    path("drafting/<int:pk>/", drafting.drafting_job, name="drafting_job"),
    path("drafting/<int:pk>/live/", drafting.drafting_job_live, name="drafting_job_live"),
    path("drafting/<int:pk>/stop/", drafting.drafting_stop, name="drafting_stop"),
    path("drafting/<int:pk>/continue/", drafting.drafting_continue, name="drafting_continue"),
    path("drafting/drafts/<int:pk>/", drafting.draft_detail, name="draft_detail"),
    path("drafting/calls/<int:pk>/<str:part>/", drafting.draft_call_raw, name="draft_call_raw"),
    path("drafting/proposals/", proposals.proposal_queue, name="proposals"),
    path("drafting/proposals/<str:key>/", proposals.proposal, name="proposal"),
    path("drafting/proposals/<str:key>/decide/", proposals.proposal_decide, name="proposal_decide"),
    path("drafting/drafters/", drafters.drafter_list, name="drafter_list"),
    path("drafting/drafters/new/", drafters.drafter_new, name="drafter_new"),
    path("drafting/drafters/<int:pk>/", drafters.drafter_edit, name="drafter_edit"),
    path("drafting/drafters/<int:pk>/active/", drafters.drafter_active, name="drafter_active"),
    path("prompts/", prompts.prompt_list, name="prompt_list"),
    path("prompts/<slug:name>/", prompts.prompt_detail, name="prompt_detail"),
    path("prompts/<slug:name>/new/", prompts.prompt_new, name="prompt_new"),
    path("prompts/<slug:name>/<int:version>/", prompts.prompt_version, name="prompt_version"),
]

_datasets: list[URLPattern | URLResolver] = [
    path("datasets/", datasets.dataset_list, name="dataset_list"),
    path("datasets/freeze/", datasets.dataset_freeze, name="dataset_freeze"),
    path("datasets/<int:pk>/", datasets.dataset_detail, name="dataset_detail"),
    path("datasets/<int:pk>/attach/", datasets.dataset_attach, name="dataset_attach"),
    path("datasets/<int:pk>/items/<int:item>/", datasets.dataset_item, name="dataset_item"),
    path("datasets/<int:pk>/differences/", dataset_history.dataset_differences, name="dataset_differences"),
    path("datasets/<int:pk>/provenance.jsonl", dataset_history.provenance_jsonl, name="provenance_jsonl"),
    path("datasets/<int:pk>/provenance.csv", dataset_history.provenance_csv, name="provenance_csv"),
    path("datasets/<int:pk>/items/<int:item>/provenance/", dataset_history.item_provenance, name="item_provenance"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    *_people,
    *_images,
    *_cells,
    *_items,
    *_drafting,
    *_variants,
    *_datasets,
    *_labels,
]
