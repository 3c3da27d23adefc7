"""The testbed with a link that begins to corrupt and is repaired: what corruptd (appendix C) is tried on."""

from typing import Any

from hitless.checking import Fields
from hitless.corruptd.detection import Policy
from hitless.corruptd.lab import DaemonLabPlan
from hitless_papers.linkguardian import testbed

POLL_S = 1e-3
"""A poll each simulated millisecond instead of each second, and a window shorter by the same factor or more: what is
measured is counted in polls and frames."""


def scenario(loss: float, *, begins_s: float, ends_s: float, duration_s: float, rate_gbps: int = 25) -> Fields:
    """Full frames at four fifths of line rate over a link that corrupts from ``begins_s`` to ``ends_s``.

    LinkGuardian is configured on it and off, with one copy until somebody says otherwise.
    """
    made: dict[str, Any] = dict(
        testbed.scenario(
            rate_gbps,
            name="corruptd",
            transport={"kind": "udp", "rate": f"{0.8 * rate_gbps:g} Gbps"},
            flows={"kind": "constant-rate"},
            duration_s=duration_s,
            scheme="LG",
            settings={"copies": 1},
            kernel=None,
        )
    )
    changes = [
        {"at": testbed.seconds(begins_s), "loss": testbed.loss_model(loss, None)},
        {"at": testbed.seconds(ends_s), "loss": {"kind": "none"}},
    ]
    made["link"] = [{"name": testbed.LINK, "changes": changes}]
    made["mechanism"][0]["activation"] = [{"at": "0 s", "active": False}]
    return made


def policy(window_frames: int, **more: Any) -> Policy:
    """The defaults, with a window and a hold that fit simulated milliseconds.

    The rates that divide links into good and bad are scaled with the window, so that at the threshold it sees one bad
    frame, as the paper's does.
    """
    threshold = 1.0 / window_frames
    return Policy(
        window_frames=window_frames, threshold=threshold, clear_below=threshold / 10, hold_s=5 * POLL_S, **more
    )


def lab_plan(scenario_: Fields, policy_: Policy, *, seed: int = 1, settle_s: float = 0.0) -> DaemonLabPlan:
    """Daemons at both ends of the testbed's link."""
    return DaemonLabPlan(scenario_, testbed.LINK, "sw2", "sw6", policy_, POLL_S, seed, settle_s)
