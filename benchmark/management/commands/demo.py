"""Starts the demo: the study in small, on this machine alone."""

import fcntl
import logging
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from benchmark.services import demo_house
from fpco_site import broker, static_files, supervisor
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = "Start the demo on this machine: web server, worker and broker, with a small study loaded."
    # Checks import every page, which the web server does anyway; a second start is to be quick.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000", help="port on 127.0.0.1 (or PORT=)")
        parser.add_argument(
            "--reset",
            action="store_true",
            default=os.environ.get("RESET", "") not in {"", "0"},
            help="first remove the demo's database, pictures and releases (or RESET=1)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        supervisor.stop_on_signals()
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        try:
            with alone():
                self.run(port=parse_port(options["port"]), reset=options["reset"])
        except FpcoError as error:
            raise CommandError(error.message) from error
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")

    def run(self, *, port: int, reset: bool) -> None:
        begin = time.monotonic()
        supervisor.check_port(port)
        if reset:
            demo_house.remove()
        address = f"http://{supervisor.HOST}:{port}"
        # The worker lets calls finish; it gets a little longer than these may take.
        grace = settings.ENGINE["grace"] + 5
        house = supervisor.Supervisor(logs=settings.DATA_DIR / "log", env=environment(address), grace=grace)
        try:
            if settings.BROKER_IS_EMBEDDED:
                # It holds hints only, so that a new one is as good; workers find it by themselves.
                bring = partial(broker.ensure, settings.BROKER_SOCKET)
                house.adopt("broker", bring(), revive=bring)
            self.prepare()
            house.start("web server", supervisor.web_command(port))
            house.start("worker", supervisor.worker_command())
            house.wait_for(address)
            self.greet(address, seconds=time.monotonic() - begin)
            house.watch()
        finally:
            self.close(house)

    def close(self, house: supervisor.Supervisor) -> None:
        """Stop everything, also where nobody reads any more what is said."""
        try:
            with suppress(OSError):
                self.stdout.write("Stopping; calls to models may finish first (Ctrl-C again: at once) ...")
        finally:
            killed = house.stop()
        for name in killed:
            self.stderr.write(f"The {name} did not end in time and was killed.")

    def prepare(self) -> None:
        """Bring database, static files and the demo study up to date."""
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            self.stdout.write("Preparing the database ...")
            call_command("migrate", interactive=False, verbosity=0)
        static_files.collect_if_changed()
        if not demo_house.is_loaded():
            how = "the last load was stopped half-way: going on" if demo_house.is_unfinished() else "once"
            self.stdout.write(f"Loading the demo study ({how}) ...")
            logging.getLogger("fpco_site.llm.engine").setLevel(logging.WARNING)
            demo_house.load(progress=lambda step: self.stdout.write(f"  {step}"))
        connection.close()

    def greet(self, address: str, *, seconds: float) -> None:
        self.stdout.write(f"\nFPCO Studio is at {address} (started in {seconds:.1f} s)\n\nSign in as")
        password = demo_house.password()
        for name, role, does in demo_house.PEOPLE:
            self.stdout.write(f"  {name:<5} {password}   {role}: {does}")
        self.stdout.write(f"\nData and logs are in {settings.DATA_DIR}. Ctrl-C stops everything.")


def environment(address: str) -> dict[str, str]:
    """What the children see: this address, whatever `.env` says of another."""
    return {
        "FPCO_PUBLIC_URL": address,
        "FPCO_ALLOWED_HOSTS": f"{supervisor.HOST},localhost",
        "FPCO_DATA_DIR": str(settings.DATA_DIR),
    }


def parse_port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise Invalid(f"PORT must be a number from 1 to 65535, not {text!r}.")
    return int(text)


@contextmanager
def alone() -> Iterator[None]:
    """Refuse a second demo on the same data folder."""
    with open(settings.DATA_DIR / "demo.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Invalid(
                f"A demo already runs on {settings.DATA_DIR}: stop it, or give this one another FPCO_DATA_DIR."
            ) from error
        yield
