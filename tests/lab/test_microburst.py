"""Microbursts of UDP into a slow port together with kernel TCP, with and without RIMM."""

from hitless_papers.together.scenes import PLAIN, counted
from scene_labs import counts

IPV4 = "0800"


def test_a_plain_switch_loses_of_microbursts_and_tcp_beside_them_pays(make_lab, tmp_path):
    found, status, _ = counts(make_lab, tmp_path, "RIMM", PLAIN)
    assert found["lost"] > 0
    assert status.values["drops"]["queue full"] >= found["lost"]
    assert found["reordered"] == 0


def test_with_rimm_nothing_is_lost_and_the_kernel_sees_no_reordering(make_lab, tmp_path):
    def lacks(found):
        return {name: found[name] for name in ("lost", "reordered", "sent again", "out of order") if found[name]}

    # A program that the machine delayed sends a burst at once, more than fits before a detour can begin.
    found, status, types = counts(make_lab, tmp_path, "RIMM", "RIMM", record=True, again_if=lacks)
    assert found["acted"] > 0, "no burst reached the threshold"
    assert not lacks(found), (lacks(found), status.values["drops"])
    assert counted(status, "rimm", "messages_returned") > 0, "messages went out and came back"
    assert set(types) == {IPV4}, "neither messages nor headers leave for a host"
