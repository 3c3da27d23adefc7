"""The bus over a real Redis: outages, passwords, access lists, TLS."""

import time

import pytest

from hitless.corruptd.messages import PAYLOAD_BYTES_MAX
from servers import PASSWORD, RedisServer, make_certificates
from waiting import wait_until


def receive(bus, now_s=0.0, attempts=50):
    """Receive patiently: the server is a separate process."""
    for _ in range(attempts):
        payloads = bus.receive(now_s)
        if payloads:
            return payloads
        time.sleep(0.01)
    return []


def test_what_is_published_is_heard_by_whom_it_is_for(redis_server):
    alice, bob = redis_server.bus("a"), redis_server.bus("b")
    assert receive(bob, attempts=1) == receive(alice, attempts=1) == []
    assert alice.publish("SWITCH-b", b"hello", 0.0)
    assert receive(bob) == [b"hello"]
    assert receive(alice, attempts=3) == []
    assert not alice.publish("SWITCH-nobody", b"hello", 0.0), "nobody listens there"


def test_it_comes_back_after_redis_was_away(redis_server):
    alice, bob = redis_server.bus("a"), redis_server.bus("b")
    receive(bob, attempts=1)
    redis_server.stop()
    assert not alice.publish("SWITCH-b", b"lost", 1.0)
    assert bob.receive(1.0) == []
    assert not bob.is_connected
    redis_server.start()
    assert bob.receive(2.0) == []
    assert bob.is_connected
    assert alice.publish("SWITCH-b", b"again", 2.0)
    assert receive(bob, 2.0) == [b"again"]


def test_a_redis_that_falls_silent_is_noticed_by_who_only_listens(redis_server):
    """Stopped by a signal, it keeps every connection but stops answering."""
    bus = redis_server.bus("a", health_check_s=0.05, timeout_s=0.2)
    receive(bus, attempts=20)
    assert bus.is_connected

    def hears():
        bus.receive(time.monotonic())
        return bus.is_connected

    with redis_server.silent():
        wait_until(lambda: not hears())
    wait_until(hears)


def test_a_daemon_that_was_busy_for_long_does_not_take_that_for_silence(redis_server):
    """The answer to its health check has arrived, but was not read yet."""
    bus = redis_server.bus("a", health_check_s=0.05)
    receive(bus, attempts=1)
    wait_until(lambda: bus.receive(0.0) == [] and bus._subscription.health_check_response_counter > 0)
    wait_until(bus._has_more)
    bus.receive(1_000.0)
    assert bus.is_connected


def test_while_redis_is_away_it_is_tried_as_often_as_was_said(redis_server):
    bus = redis_server.bus("a", reconnect_s=5.0)
    redis_server.stop()
    bus.receive(0.0)
    redis_server.start()
    bus.receive(4.9)
    assert not bus.is_connected
    bus.receive(5.0)
    assert bus.is_connected


def test_a_wrong_password_is_as_if_redis_were_away(redis_server):
    bus = redis_server.bus("a", password="wrong")  # noqa: S106 - that is the point
    assert bus.receive(0.0) == []
    assert not bus.is_connected


def test_notes_are_keys_of_the_database(redis_server):
    bus = redis_server.bus("a")
    bus.note("protected-a-7", "2", 0.0)
    assert redis_server.client().get("protected-a-7") == b"2"
    bus.note("protected-a-7", None, 0.0)
    assert redis_server.client().get("protected-a-7") is None


def test_a_payload_larger_than_any_message_is_not_kept_whole(redis_server):
    bus = redis_server.bus("a")
    receive(bus, attempts=1)
    redis_server.client().publish("SWITCH-a", b"x" * 1_000_000)
    assert [len(payload) for payload in receive(bus)] == [PAYLOAD_BYTES_MAX + 1]


@pytest.fixture
def two_users(tmp_path):
    """The daemons "a" and "b" at a server with an access list; "b" listens."""
    rule = f"corruptd on >{PASSWORD} resetchannels &SWITCH-a &SWITCH-b ~protected-a-* +subscribe +unsubscribe "
    rule += "+publish +ping +set +del"
    (tmp_path / "users.acl").write_text(f"user default off\nuser {rule}\n")
    server = RedisServer(tmp_path, "--aclfile", str(tmp_path / "users.acl"))
    alice, bob = server.bus("a", username="corruptd"), server.bus("b", username="corruptd")
    receive(bob, attempts=1)
    yield alice, bob
    server.end()


def test_an_access_list_lets_a_daemon_do_what_docs_say_and_no_more(two_users):
    """The rule in docs/reference/corruptd.md for the user of switch "a", at the same server as "b"."""
    alice, bob = two_users
    assert alice.publish("SWITCH-b", b"hello", 0.0)
    assert receive(bob) == [b"hello"]
    alice.note("protected-a-7", "2", 0.0)
    assert alice.is_connected
    alice.note("protected-b-7", "2", 0.0)
    assert alice.is_connected, "a key that is not ours is refused, no more"
    assert not alice.publish("SWITCH-c", b"hello", 0.0)


def test_a_channel_that_is_refused_does_not_starve_the_others(two_users, caplog):
    alice, _ = two_users
    for _ in range(3):
        assert not alice.publish("SWITCH-c", b"hello", 0.0)
        assert alice.publish("SWITCH-b", b"hello", 0.0), "at the same time, after the refusal"
    assert alice.is_connected
    told = [record for record in caplog.records if "SWITCH-c" in record.getMessage()]
    assert len(told) == 1


def test_a_server_whose_certificate_is_not_signed_for_us_is_refused(redis_server_with_tls, tmp_path):
    trusted = redis_server_with_tls.bus("a")
    trusted.receive(0.0)
    assert trusted.is_connected
    other = tmp_path / "other"
    other.mkdir()
    make_certificates(other)
    distrusting = redis_server_with_tls.bus("a", ca_file=other / "ca.pem")
    distrusting.receive(0.0)
    assert not distrusting.is_connected


@pytest.mark.parametrize("count", [2_500])
def test_a_flood_is_taken_in_portions(redis_server, count):
    bus = redis_server.bus("a")
    receive(bus, attempts=1)
    pipeline = redis_server.client().pipeline()
    for number in range(count):
        pipeline.publish("SWITCH-a", str(number))
    pipeline.execute()
    heard = receive(bus)
    assert len(heard) <= 1_000
    while more := receive(bus, attempts=10):
        heard += more
    assert heard == [str(number).encode() for number in range(count)]
