"""A stub as a process of its own: `python -m tests.stubs --port 9000 --latency 0.2`."""

import argparse
import signal
import sys
import threading

from tests.stubs.server import StubServer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stubs", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--plain", action="store_true", help="answer with one short sentence, as fast as possible")
    given = parser.parse_args()
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    with StubServer(port=given.port, latency=given.latency, keep=False, plain=given.plain) as stub:
        sys.stdout.write(f"{stub.url('gemini')}\n")
        sys.stdout.flush()
        ended.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
