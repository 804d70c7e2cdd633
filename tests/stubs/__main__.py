"""A stub as a process of its own: `python -m tests.stubs --port 9000 --latency 0.2`."""

import argparse
import asyncio
import signal
import sys
import threading

from tests.stubs.fast import FastServer
from tests.stubs.server import StubServer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stubs", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--plain", action="store_true", help="answer with one short sentence, as fast as possible")
    parser.add_argument("--fast", action="store_true", help="answer without reading, for benchmarks")
    given = parser.parse_args()
    if given.fast:
        asyncio.run(serve_fast(FastServer(port=given.port, latency=given.latency)))
        return 0
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    with StubServer(port=given.port, latency=given.latency, keep=False, plain=given.plain) as stub:
        sys.stdout.write(f"{stub.url('gemini')}\n")
        sys.stdout.flush()
        ended.wait()
    return 0


async def serve_fast(server: FastServer) -> None:
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    await server.start()
    sys.stdout.write(f"http://127.0.0.1:{server.port}/\n")
    sys.stdout.flush()
    await ended.wait()


if __name__ == "__main__":
    sys.exit(main())
