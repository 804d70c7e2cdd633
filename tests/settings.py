"""Settings of the test suite: the real ones on a temporary data folder.

`DATABASE_URL` and `CELERY_BROKER_URL` choose the servers, as `python -m tests.run` does; without them
the tests use SQLite in a file (in memory, threads would not share it) and a broker in memory.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

DATA = Path(tempfile.mkdtemp(prefix="fpco-test-"))
atexit.register(shutil.rmtree, DATA, ignore_errors=True)
(DATA / "static").mkdir()  # WhiteNoise warns of a missing folder
_xdist = os.environ.get("PYTEST_XDIST_WORKER", "")

# Set before the real settings are read, so that nobody's `.env` decides what a test meets.
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "FPCO_DATA_DIR": str(DATA),
    "FPCO_SECRET_KEY": "only-for-tests-" + "x" * 50,
    "FPCO_PUBLIC_URL": "http://127.0.0.1:8000",
    "FPCO_DEBUG": "",
}
os.environ.setdefault("CELERY_BROKER_URL", "memory://")
if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
    os.environ["DATABASE_URL"] = f"sqlite:///{DATA / 'fpco.sqlite3'}"
if _xdist and os.environ["CELERY_BROKER_URL"].startswith("redis+socket://"):
    # Each test process has a database of its own in the one Valkey.
    _path = os.environ["CELERY_BROKER_URL"].partition("?")[0]
    _own = int(_xdist.removeprefix("gw")) + int(os.environ.get("FPCO_TEST_BROKER", "1"))
    os.environ["CELERY_BROKER_URL"] = f"{_path}?virtual_host={_own}"

from fpco_site.settings import *  # noqa: E402, F403
from fpco_site.settings import DATABASES, STORAGES  # noqa: E402

# Databases that `python -m tests.run` has migrated once: each process begins with a copy.
READY_SQLITE = os.environ.get("FPCO_READY_SQLITE", "")
READY_POSTGRES = os.environ.get("FPCO_READY_POSTGRES", "")

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(DATA / "test.sqlite3")}
    if READY_SQLITE:
        shutil.copyfile(READY_SQLITE, DATA / ("test.sqlite3" + (f"_{_xdist}" if _xdist else "")))
    # The suite kills processes, never the machine: what a process wrote stays without waiting for the disk.
    DATABASES["default"]["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    # Passes run side by side on one server.
    DATABASES["default"]["TEST"] = {"NAME": f"test_{os.environ.get('FPCO_TEST_PASS', 'alone').replace('-', '_')}"}
    if READY_POSTGRES:
        DATABASES["default"]["TEST"]["TEMPLATE"] = READY_POSTGRES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
