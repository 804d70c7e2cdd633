"""All settings, driven by the environment. `.env.example` lists what can be set."""

from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from fpco_site import broker, env

BASE_DIR = env.BASE_DIR
env.load_dotenv()

DATA_DIR: Path = env.folder("FPCO_DATA_DIR", BASE_DIR / "var")
DEBUG = env.flag("FPCO_DEBUG", default=False)
SECRET_KEY = env.secret("FPCO_SECRET_KEY", DATA_DIR / "secret_key")
PUBLIC_URL = env.url("FPCO_PUBLIC_URL", "http://127.0.0.1:8000")
_public = urlsplit(PUBLIC_URL)
ALLOWED_HOSTS = env.words("FPCO_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]", _public.hostname or "localhost"])
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "fpco_site.llm",
    "annotate",
    "benchmark",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "fpco_site.middleware.SignInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "fpco_site.middleware.Refusals",
]

ROOT_URLCONF = "fpco_site.urls"
WSGI_APPLICATION = "fpco_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "fpco_site.pages.Templates",
        "NAME": "django",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "libraries": {"studio": "fpco_site.templatetags.studio"},
        },
    },
]

FORM_RENDERER = "fpco_site.forms.StudioRenderer"

DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{DATA_DIR / 'fpco.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotate.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign_in"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG
# 1,080 photographs in one browser drop; each file is still bounded by MAX_IMAGE_BYTES.
DATA_UPLOAD_MAX_NUMBER_FILES = 2000
MAX_IMAGE_BYTES = env.integer("FPCO_MAX_IMAGE_BYTES", 40_000_000, least=1)
MAX_IMAGE_PIXELS = env.integer("FPCO_MAX_IMAGE_PIXELS", 60_000_000, least=1)

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:", "blob:"],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
_https = _public.scheme == "https"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SESSION_ENGINE = "fpco_site.sessions"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SECURE_SSL_REDIRECT = _https and env.flag("FPCO_SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = env.integer("FPCO_HSTS_SECONDS", 31_536_000 if _https else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _https
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if env.flag("FPCO_BEHIND_PROXY"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    # LoginRequiredMiddleware leaves DRF views alone, so DRF must ask for the sign-in itself.
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    # Escapes carry any text, even the half characters that a model may have written.
    "UNICODE_JSON": False,
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "fpco_site.pagination.Pages",
    "PAGE_SIZE": 100,
    "EXCEPTION_HANDLER": "fpco_site.api.handle_error",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "FPCO Studio",
    "DESCRIPTION": "The same services and permissions as the pages.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # Several nouns have a `state`: each gets a name of its own.
    "ENUM_NAME_OVERRIDES": {
        "RunState": "benchmark.models.runs.RunState",
        "DialogueState": "benchmark.models.runs.DialogueState",
        "JobState": "benchmark.models.detectors.JobState",
        "JobMode": "benchmark.models.detectors.JobMode",
        "BatchState": "benchmark.models.batches.BatchState",
        "ReleaseState": "benchmark.models.releases.BuildState",
        "AnalysisState": "benchmark.models.results.AnalysisState",
        "Match": "benchmark.api.leaderboard.VERDICTS",
        "ItemState": "annotate.models.items.ItemState",
    },
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

# Celery carries hints only; all state is in the database (see DECISIONS.md).
BROKER_SOCKET = broker.socket_path(DATA_DIR)
CELERY_BROKER_URL = env.broker("CELERY_BROKER_URL", f"redis+socket://{BROKER_SOCKET}")
TASKS_APP = "fpco_site.celery.app"
BROKER_IS_EMBEDDED = not env.text("CELERY_BROKER_URL")
# Only a worker that is told so (`--queues local`) asks models of its own machine: see docs/local-models.md.
CELERY_TASK_ROUTES = {"fpco_site.llm.pump_local": {"queue": "local"}}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker outlives its broker: what it asks goes on meanwhile, and a broker that comes back is found.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
}
# Nothing is remembered of when they were sent: a file that a killed worker left locked would stop the clock for good.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
# None of them expires: that would compare the sender's clock with the worker's. One too many does nothing.
CELERY_BEAT_SCHEDULE = {
    "imports": {"task": "annotate.import_images", "schedule": 10.0},
    "releases": {"task": "benchmark.build_releases", "schedule": 10.0},
    "reports": {"task": "benchmark.build_reports", "schedule": 10.0},
    "batches": {"task": "benchmark.work_batches", "schedule": 10.0},
    "analyses": {"task": "benchmark.run_analyses", "schedule": 10.0},
}

# Seconds between two looks at a batch that a provider works on.
BATCH_POLL = env.number("FPCO_BATCH_POLL", 60.0)

# Seconds and bounds of the engine (see fpco_site/llm/engine/config.py).
ENGINE = {
    "lanes": env.integer("FPCO_ENGINE_LANES", 128, least=1),
    "tries": env.integer("FPCO_ENGINE_TRIES", 5, least=1),
    "backoff": env.number("FPCO_ENGINE_BACKOFF", 0.5),
    "beat": env.number("FPCO_ENGINE_BEAT", 5.0),
    "stale": env.number("FPCO_ENGINE_STALE", 30.0),
    "grace": env.number("FPCO_ENGINE_GRACE", 30.0),
    "wake": env.number("FPCO_ENGINE_WAKE", 10.0),
}

if ENGINE["stale"] < 3 * ENGINE["beat"]:
    raise ImproperlyConfigured("FPCO_ENGINE_STALE must be at least three times FPCO_ENGINE_BEAT: a beat may come late.")

DEFAULT_EXCEPTION_REPORTER = "fpco_site.error_pages.Reporter"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "fpco_site.keys.Formatter", "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.choice("FPCO_LOG_LEVEL", "INFO", LEVELS)},
    # A provider client's request log would carry addresses and bodies.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "openai", "google_genai", "aiohttp")},
}
