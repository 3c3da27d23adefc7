import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.messages import Acknowledgement, BadMessage, Request, channel, decode, encode

REQUEST = Request(
    switch_id="sw2", link="sw2->sw6", origin="sw6", epoch=3, sequence=9, dev_port=132, mcast_grp=1, action=2,
    copies=2, mode="blocking", loss_rate=1e-3, lifetime_s=60.0,
)  # fmt: skip
ANSWER = Acknowledgement(switch_id="sw6", link="sw2->sw6", origin="sw6", epoch=3, sequence=9, applied=True)


def test_the_published_fields_are_there():
    published = {"event", "switch_id", "dev_port", "mcast_grp", "action"}
    assert published <= json.loads(encode(REQUEST)).keys()
    assert channel("17") == "SWITCH-17"


@pytest.mark.parametrize("message", [REQUEST, ANSWER])
def test_a_message_survives_its_bytes(message):
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 2}, "version"),
        ({"event": "else"}, "event"),
        ({"action": 1}, "action 1 does not go with 2 copies"),
        ({"copies": -1}, "copies"),
        ({"copies": 2.5}, "copies"),
        ({"copies": "2"}, "copies"),
        ({"copies": True}, "copies"),
        ({"link": ""}, "link"),
        ({"link": "a b"}, "link"),
        ({"link": "x" * 65}, "link"),
        ({"mode": "fast"}, "mode"),
        ({"loss_rate": 1.5}, "loss_rate"),
        ({"lifetime_s": 0.0}, "lifetime_s"),
        ({"epoch": 2**64}, "epoch"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_what_is_wrong_is_named(change, reason):
    with pytest.raises(BadMessage, match=reason):
        decode(json.dumps({**json.loads(encode(REQUEST)), **change}).encode())


@pytest.mark.parametrize("change", [{"x\nERROR all is lost": 1}, {"event": "x\nERROR all is lost"}, {"x" * 3_000: 1}])
def test_what_a_foreign_message_says_stays_one_short_line(change):
    with pytest.raises(BadMessage) as refused:
        decode(json.dumps({**json.loads(encode(REQUEST)), **change}).encode())
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1_000


@given(st.binary(max_size=200))
def test_any_bytes_give_a_message_or_the_one_error(payload):
    with suppress(BadMessage):
        assert isinstance(decode(payload), Request | Acknowledgement)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(json.loads(encode(REQUEST)))), json_values, max_size=3))
def test_any_values_give_a_message_or_the_one_error(changes):
    payload = json.dumps({**json.loads(encode(REQUEST)), **changes}).encode()
    try:
        message = decode(payload)
    except BadMessage:
        return
    assert decode(encode(message)) == message


@pytest.mark.parametrize("payload", [b"[" * 4_000, b" " * 5_000, b"\xff\xfe", b'{"event":' * 400])
def test_what_is_too_large_or_too_deep_is_refused(payload):
    with pytest.raises(BadMessage):
        decode(payload)
