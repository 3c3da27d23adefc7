import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.actors import HookActor, ReportActor
from hitless.corruptd.bus import SilentBus
from hitless.corruptd.config import EXAMPLE, Action, BusSection, Main, Metrics, WatchSection, parse_config
from hitless.corruptd.daemon import GuardPlan
from hitless.corruptd.detection import Policy
from hitless.corruptd.protocol import Pace
from hitless.corruptd.redis_bus import RedisBus
from hitless.errors import BadInput

SMALL = """\
[corruptd]
switch_id = "sw6"

[[watch]]
link = "sw2->sw6"
port = "eth0"
upstream_switch_id = "sw2"
"""


def test_the_example_is_sound():
    config = parse_config(EXAMPLE, "example")
    assert isinstance(config.make_actor(), ReportActor)
    assert isinstance(config.make_bus(), SilentBus)
    assert config.plan().poll_interval_s == 1.0


def test_every_field_is_documented():
    guide = (Path(__file__).parents[2] / "docs/reference/corruptd.md").read_text()
    sections = [Main, Policy, Pace, BusSection, Action, Metrics, WatchSection, GuardPlan]
    missing = [name for section in sections for name in section.model_fields if f"{name}`" not in guide]
    assert missing == []


def test_the_files_in_the_guide_are_sound():
    guide = (Path(__file__).parents[2] / "docs/how-to/corruptd.md").read_text()
    files = re.findall(r"^```toml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    watching, guarding = (parse_config(file, "guide") for file in files)
    assert watching.plan().watches[0].upstream.switch_id == guarding.corruptd.switch_id
    assert guarding.guard[0].downstream_switch_id == watching.corruptd.switch_id
    assert watching.warnings() == guarding.warnings() == []


@pytest.mark.parametrize(
    "change",
    [
        'port = "eth1"',
        'port = "eth0"\nsource = "sysfs"',
        'port = "eth0"\ncount_fec = true',
        'port = "eth0"\ncounter_bits = 32',
        'port = "eth0"\nsource = "sonic"',
    ],
)
def test_other_counters_are_told_from_those_before(change):
    before, after = (parse_config(text, "small").plan() for text in (SMALL, SMALL.replace('port = "eth0"', change)))
    assert before.watches[0].counters != after.watches[0].counters


def test_what_tells_counters_apart_holds_no_password():
    """The text goes into the state file."""
    sonic = 'port = "eth0"\nsource = "sonic"\nsonic_url = "redis://me:secret@host:7/2"'
    plan = parse_config(SMALL.replace('port = "eth0"', sonic), "small").plan()
    assert plan.watches[0].counters == "sonic eth0 host:7/2 of 64 bits"


def test_a_bus_that_reaches_nobody_is_warned_of():
    [warning] = parse_config(SMALL, "small").warnings()
    assert "does not reach other processes, so not the daemon of sw2 (sw2->sw6)" in warning
    guard = '[corruptd]\nswitch_id = "a"\n[[guard]]\nlink = "a->b"\ndownstream_switch_id = "b"\n'
    assert len(parse_config(guard, "guard").warnings()) == 1


@pytest.mark.parametrize(
    "text", [EXAMPLE, SMALL + '[bus]\nkind = "redis"\n', SMALL.replace('id = "sw2"', 'id = "sw6"')]
)
def test_a_bus_that_is_enough_is_not_warned_of(text):
    assert parse_config(text, "sound").warnings() == []


def test_a_hook_and_redis_are_made():
    text = SMALL + '[bus]\nkind = "redis"\n[action]\nkind = "hook"\ncommand = ["/bin/true"]\n'
    config = parse_config(text, "small")
    assert config.make_actor() == HookActor(["/bin/true"], 10.0)
    bus = config.make_bus()
    assert isinstance(bus, RedisBus)
    bus.close()


def test_a_dry_run_has_no_hook():
    text = SMALL.replace('"sw6"\n', '"sw6"\ndry_run = true\n', 1) + '[action]\nkind = "hook"\ncommand = ["/bin/true"]\n'
    config = parse_config(text, "small")
    assert isinstance(config.make_actor(), ReportActor)
    assert not config.make_bus().publish("SWITCH-sw6", b"", 0.0)


@pytest.mark.parametrize(
    ("change", "line", "expected"),
    [
        (('switch_id = "sw6"', 'switch_id = ""'), 2, "corruptd.switch_id = '': String should have at least 1"),
        (('switch_id = "sw6"', 'swich_id = "sw6"'), 2, "there is no such field (did you mean switch_id?)"),
        (('port = "eth0"', 'port = "eth/0"'), 6, "watch[0].port = 'eth/0': String should match pattern"),
        (('port = "eth0"\n', ""), 4, 'watch[0]: Value error, port is missing: source = "linux" reads its counters'),
        (("[[watch]]", "[detection]\nthreshold = 2.0\n[[watch]]"), 5, "detection.threshold = 2.0"),
        (("[[watch]]", "[detection]\nclear_below = 0.5\n[[watch]]"), 4, "clear_below must lie below threshold"),
        (('port = "eth0"', 'port = "eth0"\nsource = "sysfs"\ncount_fec = true'), 4, "count_fec has no effect"),
        (("[[watch]]", "[messages]\nlifetime_s = 5.0\n[[watch]]"), 4, "lifetime_s must be three times refresh_s"),
        (("[[watch]]", '[bus]\nurl = "http://x"\n[[watch]]'), 5, "url must begin with redis://"),
        (("[[watch]]", '[bus]\nca_file = "/x"\n[[watch]]'), 4, "certificates have no effect without TLS"),
        (("[[watch]]", '[action]\nkind = "hook"\n[[watch]]'), 4, "command goes with kind"),
        (("[[watch]]", "[metric]\nport = 1\n[[watch]]"), 4, "metric: there is no such field (did you mean metrics?)"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(change, line, expected):
    text = SMALL.replace(*change)
    assert text != SMALL
    with pytest.raises(BadInput, match=re.escape(expected)) as refused:
        parse_config(text, "mine.toml")
    assert f"mine.toml:{line}: " in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "garbage",
        "redis://h:port/0",
        "redis://h:99999/0",
        "redis://h/0?socket_timeout=soon",
        "redis://h/0?no_such_option=1",
        "rediss://h/0?no_such_option=1",
    ],
)
@pytest.mark.parametrize("field", ["bus.url", "sonic_url"])
def test_a_url_that_leads_nowhere_is_refused(field, url):
    """Otherwise it would end the daemon at its first message, or at the first reading."""
    change = f'\n[bus]\nurl = "{url}"\n' if field == "bus.url" else f'source = "sonic"\nsonic_url = "{url}"\n'
    with pytest.raises(BadInput, match=r"mine.toml:[0-9]+: .*url = "):
        parse_config(SMALL + change, "mine.toml")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dry_run", '"yes"'),
        ("dry_run", "1"),
        ("poll_interval_s", "true"),
        ("poll_interval_s", '"1"'),
        ("state_file", "5"),
        ("switch_id", "6"),
    ],
)
def test_a_value_of_another_kind_is_not_taken_for_one_of_this(field, value):
    lines = [line for line in SMALL.splitlines() if not line.startswith(f"{field} =")]
    text = "\n".join([lines[0], f"{field} = {value}", *lines[1:]])
    with pytest.raises(BadInput, match=f"mine.toml:2: corruptd.{field} = "):
        parse_config(text, "mine.toml")


def test_a_whole_number_is_a_number_of_seconds():
    assert parse_config(SMALL.replace('"sw6"\n', '"sw6"\npoll_interval_s = 2\n', 1), "x").plan().poll_interval_s == 2.0


@pytest.mark.parametrize("name", ["ca_file", "certificate_file", "key_file"])
def test_a_certificate_that_is_not_there_is_refused(name):
    text = SMALL + f'[bus]\nkind = "redis"\nurl = "rediss://127.0.0.1:1/0"\n{name} = "/no/such/file"\n'
    with pytest.raises(BadInput, match=f"bus.{name} cannot be read: /no/such/file: No such file"):
        parse_config(text, "mine.toml").make_bus()


def test_all_that_is_wrong_is_told_at_once():
    text = SMALL.replace('port = "eth0"', "port = 7").replace('switch_id = "sw6"', 'switch_id = "s 6"', 1)
    with pytest.raises(BadInput) as refused:
        parse_config(text, "mine.toml")
    assert "corruptd.switch_id" in str(refused.value)
    assert "watch[0].port" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[corruptd]\nswitch_id = "sw6"\n', "there is nothing to do"),
        (SMALL + SMALL[SMALL.index("[[watch]]") :], "[[watch]] names sw2->sw6 twice"),
        (
            '[corruptd]\nswitch_id = "a"\n[[guard]]\nlink = "a->b"\ndownstream_switch_id = "b"\ndev_port = 7\n'
            '[[guard]]\nlink = "a->c"\ndownstream_switch_id = "c"\ndev_port = 7\n',
            "[[guard]] a->b and a->c both have dev_port = 7: each link begins at a different port",
        ),
        ("[corruptd", "not TOML"),
    ],
)
def test_what_makes_no_sense_as_a_whole_is_refused(text, expected):
    with pytest.raises(BadInput, match=re.escape(expected)):
        parse_config(text, "mine.toml")


@given(
    st.text(max_size=100) | st.builds(lambda a, b: SMALL[:a] + b + SMALL[a:], st.integers(0, 120), st.text(max_size=9))
)
def test_any_text_is_a_configuration_or_the_one_error(text):
    with suppress(BadInput):
        parse_config(text, "any")
