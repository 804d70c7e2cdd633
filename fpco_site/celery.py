"""The Celery application: background work for drafting, running and detecting."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fpco_site.settings")

app = Celery("fpco_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
