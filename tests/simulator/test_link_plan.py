"""The times of a protected link between two boxes."""

import pytest

from hitless.cli.link import _End
from hitless.errors import BadInput
from hitless.switch.link_file import Config, Link


def end(**values: str) -> _End:
    return _End(Config(link=Link(inside="eth1", outside="eth2", rate="1 Gbps", **values)))


def test_the_wait_for_a_repair_follows_from_delay_and_answer():
    plans = [end()._plan, end(answer="20 ms")._plan, end(delay="2 ms", answer="20 ms")._plan]
    assert [plan.answer_us for plan in plans] == [5_200.0, 20_200.0, 24_000.0]
    assert plans[1].buffer_bytes > 3 * plans[0].buffer_bytes


def test_an_answer_without_a_unit_is_named():
    with pytest.raises(BadInput, match="--answer"):
        end(answer="20")
