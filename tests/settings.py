"""The settings that tests run under: the product's own, with a data folder of each process."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_data = Path(tempfile.mkdtemp(prefix="fpco-test-"))
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["FPCO_DATA_DIR"] = str(_data)
os.environ.setdefault("FPCO_SECRET_KEY", "only-for-tests-" + "x" * 50)

from fpco_site.settings import *  # noqa: E402, F403
from fpco_site.settings import DATABASES, STORAGES  # noqa: E402

# A file: SQLite in memory fails under threads.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(_data / "test.sqlite3")}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
