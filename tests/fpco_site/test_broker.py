"""The embedded broker starts where it is needed, once, and leaves nothing behind."""

import os
from pathlib import Path

import pytest

from fpco_site import broker


@pytest.fixture
def socket(tmp_path_factory):
    from tests import services

    with services.temporary_folder() as folder:
        yield folder / "broker.sock"


def test_it_answers_while_it_runs_and_is_gone_afterwards(socket):
    with broker.running(socket):
        assert broker.is_up(socket)
    assert not broker.is_up(socket)
    assert not socket.exists()


def test_a_second_start_uses_the_one_that_is_up(socket):
    with broker.running(socket):
        assert broker.ensure(socket) is None
        with broker.running(socket):
            pass
        assert broker.is_up(socket)


def test_it_starts_over_a_socket_that_a_killed_one_left(socket):
    child = broker.ensure(socket)
    child.kill()
    child.wait()
    assert socket.exists()
    with broker.running(socket):
        assert broker.is_up(socket)


def test_a_deep_data_folder_gets_a_short_socket_and_always_the_same():
    deep = Path("/srv") / ("very-deep-" * 12)
    path = broker.socket_path(deep)
    assert len(os.fsencode(path)) <= broker.LONGEST_SOCKET
    assert path == broker.socket_path(deep)
    assert path != broker.socket_path(deep / "other")


def test_a_short_data_folder_holds_its_own_socket():
    assert broker.socket_path(Path("/srv/fpco")) == Path("/srv/fpco/broker.sock")


def test_what_the_server_says_is_told_when_it_can_not_start(socket):
    with pytest.raises(broker.NotConfigured, match="The embedded broker did not start: "):
        broker.ensure(socket.parent / ("x" * 200))
