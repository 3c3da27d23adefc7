"""`hitless link check`: a line for each property of a link, with the command that mends a finding."""

from pathlib import Path

from hitless.cli.link import plan_of, require_all, require_alone
from hitless.switch import check
from hitless.switch.link import LinkPlan, scenario
from hitless.switch.link_file import Link, read_link_file
from hitless.terminal.console import print_json, print_text


def run(
    file: Path | None, *, json: bool, inside: str | None, outside: str | None, rate: str | None, **more: bool | int
) -> int:
    """Print the findings; return the exit code: 1 if there is a warning or an error."""
    if file is not None:
        require_alone(inside=inside, outside=outside, rate=rate)
        link = read_link_file(file).link
    else:
        require_all(inside=inside, outside=outside, rate=rate)
        link = Link.model_validate({"inside": inside, "outside": outside, "rate": rate, **more})
    plan = plan_of(link, file)
    scenario(plan)
    found = check.findings(plan, set_mtu=link.set_mtu)
    found += check.of_other_end(plan)
    _show(found, plan, json=json)
    return int(any(finding.verdict in {"warning", "error"} for finding in found))


def _show(found: list[check.Finding], plan: LinkPlan, *, json: bool) -> None:
    if json:
        fields = ("verdict", "subject", "text", "mend")
        rows = [{name: getattr(finding, name) for name in fields} for finding in found]
        print_json({"inside": plan.inside, "outside": plan.outside, "findings": rows})
        return
    for finding in found:
        print_text(f"{finding.verdict:8}{finding.subject}: {finding.text}")
        if finding.mend:
            print_text(f"{'':8}-> {finding.mend}")
