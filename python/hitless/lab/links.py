"""The links of a lab: their names as people type them, and their states."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hitless.errors import BadInput
from hitless.lab import control
from hitless.lab.plan import LabLinkPlan
from hitless.suggest import did_you_mean

_RULE = (
    'sw1-sw2 is from sw1 to sw2, as "sw1->sw2"; "sw1<->sw2" is both ways; '
    '"#1" at the end names the second of several parallel links'
)
_PARTS = re.compile(r"^\s*(?P<first>[^<>\s]+?)\s*(?P<way><?->)\s*(?P<second>[^<>#\s]+?)(?P<number>#\d+)?\s*$")


class LinkNames:
    def __init__(self, links: Sequence[LabLinkPlan]) -> None:
        self._directed = [name for link in links for name in (link.name, link.reverse)]
        short = Counter(map(_with_hyphen, self._directed))
        self._by_hyphen = {_with_hyphen(name): name for name in self._directed if short[_with_hyphen(name)] == 1}

    def find(self, typed: str) -> str:
        """Return the link's name in scenarios. Raises `BadInput`."""
        if typed in self._by_hyphen:
            return self._by_hyphen[typed]
        if typed.endswith("-"):
            written = f"{typed.removesuffix('-')}-NODE"
            hint = f"the shell took > for a file to write, and has created one: type {written}, or quote the name"
            raise BadInput(f"{typed!r} is not the name of a link", rule=_RULE, hint=hint)
        parts = _PARTS.match(typed)
        if parts is None:
            raise BadInput(f"{typed!r} is not the name of a link", rule=_RULE, hint=did_you_mean(typed, self._directed))
        number = parts["number"] or ""
        directed = f"{parts['first']}->{parts['second']}{number}"
        if directed not in self._directed:
            raise BadInput(f"the lab has no link {typed}", hint=did_you_mean(directed, self._directed))
        return f"{parts['first']}{parts['way']}{parts['second']}{number}"


def _with_hyphen(name: str) -> str:
    """Replace ">", which a shell would interpret, by a hyphen."""
    return name.replace("->", "-")


class LinkStates:
    """The states of all links, each direction separately: failed, losing frames, protected.

    They start with the scenario and follow commands. Changes that the scenario makes over time are mentioned, but not
    followed.
    """

    def __init__(self, scenario: Mapping[str, Any], links: Sequence[LabLinkPlan]) -> None:
        """``scenario`` is an effective configuration."""
        self._reverse = {a: b for link in links for a, b in ((link.name, link.reverse), (link.reverse, link.name))}
        self._failed: set[str] = set()
        self._loss: dict[str, str] = {}
        self._protection: dict[str, str] = {}
        for entry in scenario.get("link", []):
            for link in self._directions(entry["name"]):
                self._loss[link] = _loss(entry)
        for entry in scenario.get("mechanism", []):
            if entry["kind"] == "linkguardian":
                self._protection[entry["link"]] = _protection(entry)

    def follow(self, request: control.LinkRequest, link: str) -> None:
        """Update after a command on a link, named as in scenarios."""
        for way in self._directions(link):
            match request:
                case control.Fail():
                    self._failed |= {way, self._reverse[way]}
                case control.Repair():
                    self._failed -= {way, self._reverse[way]}
                case control.Corrupt(rate=rate, mean_burst_frames=burst):
                    bursts = f" in bursts of {burst:g}" if burst else ""
                    self._loss[way] = f"loses {rate:g}{bursts}" if rate else ""
                case control.Protect(copies=copies, mode=mode):
                    self._protection[way] = f"protected ({mode}, {copies} cop{'y' if copies == 1 else 'ies'})"
                case _:
                    self._protection[way] = ""

    def described(self) -> dict[str, str]:
        """Describe each link with a special state: "failed; loses 0.001; protected (blocking, 2 copies)"."""
        found = {
            link: [*(["failed"] if link in self._failed else []), self._loss.get(link), self._protection.get(link)]
            for link in self._reverse
        }
        return {link: "; ".join(filter(None, parts)) for link, parts in found.items() if any(parts)}

    def _directions(self, link: str) -> list[str]:
        if "<->" not in link:
            return [link]
        one = link.replace("<->", "->")
        return [one, self._reverse[one]]


def _loss(entry: Mapping[str, Any]) -> str:
    loss = entry.get("loss", {})
    kind = loss.get("kind", "none")
    words = "" if kind == "none" else f"loses {loss['rate']:g}" if "rate" in loss else f"loses by {kind}"
    if not entry.get("changes"):
        return words
    return f"{words}, at the start" if words else "loss by the scenario's clock"


def _protection(entry: Mapping[str, Any]) -> str:
    activation = entry.get("activation") or []
    if activation:
        return "protection by the scenario's clock" if any(change.get("active") for change in activation) else ""
    return f"protected ({entry.get('mode', 'blocking')})"
