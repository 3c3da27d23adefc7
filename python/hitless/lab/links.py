"""Names of links as people type them."""

import re
from collections import Counter
from collections.abc import Sequence

from hitless.errors import BadInput
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
