"""Provider servers on loopback that speak each protocol, record what they are sent and misbehave on command.

    with StubServer() as stub:
        stub.script(["429", Do("rate_limit", retry_after="2"), "hang"])   # one a request, then answers again
        stub.when(turn=5, do="filtered")                                  # every time
        endpoint = Endpoint("openai", "gpt-4.1", base_url=stub.url("openai"), api_key_env="A_KEY")
        ...
        stub.requests[0].body, stub.counts.repeated

`python -m tests.stubs --port N --latency S` runs one as its own process; `GET /stub/counts` tells what
it saw, `POST /stub/script` with a JSON list scripts it.
"""

from tests.stubs.misbehaviour import Do
from tests.stubs.server import Counts, Recorded, StubServer

__all__ = ["Counts", "Do", "Recorded", "StubServer"]
