"""docs/how-to/mechanism-in-rust.md lists each claim of a mechanism with its conflicts."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/mechanism-in-rust.md"
SCENARIO = ROOT / "crates/scenario/src"
WHERE = {"Port": "at the port", "Link": "on the link", "Switch": "on the switch", "Fabric": "anywhere"}


def claims():
    body = (SCENARIO / "kind/claim.rs").read_text().split("pub enum Claim {")[1].split("\n}")[0]
    for comment, name in re.findall(r"((?:    ///.*\n)+)    (\w+),", body):
        yield name, " ".join(line.strip().removeprefix("/// ") for line in comment.splitlines()).rstrip(".")


def conflicts():
    text = (SCENARIO / "cross/conflicts.rs").read_text()
    found = re.findall(r"conflict\(\s*Claim::(\w+),\s*Claim::(\w+),\s*At::(\w+),", text)
    assert len(found) == text.count("    conflict("), "a conflict is written in another way"
    return found


def row(name, says):
    """Return the claims of one place together, in the order of the places."""
    pairs = [(at, other if one == name else one) for one, other, at in conflicts() if name in (one, other)]
    places = [(WHERE[at], sorted({other for where, other in pairs if where == at})) for at in WHERE]
    others = "; ".join(f"{', '.join(f'`{other}`' for other in found)} {at}" for at, found in places if found)
    return f"| `{name}` | {says} | {others} |"


def test_the_table_of_claims_is_that_of_the_checks():
    table = "\n".join(row(name, says) for name, says in claims())
    assert table.count("\n") > 10
    assert table in PAGE.read_text(), f"the table should be\n{table}"
