"""Arguments and help of `hitless fleet`. The work is in `hitless.cli.fleet`, which is imported lazily."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hitless.cli.options import Json, Out, Seed

fleet_app = typer.Typer(
    no_args_is_help=True, help="Simulate a datacenter's corrupting links for years: taken down, protected, repaired."
)

_TOPOLOGY_HELP = (
    "fabric, fabric:pods=20,tors=48,oversubscription=2, fat-tree:ports=48, leaf-spine:leaves=64,spines=16, or a file."
)
Topology = Annotated[
    str | None, typer.Option("--topology", "-t", help=_TOPOLOGY_HELP, show_default="the trace's, or fabric")
]
TraceFile = Annotated[
    Path | None, typer.Option("--trace", help="A trace in the published JSON format.", show_default="drawn by --seed")
]
Capacity = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of its paths to the spines that each ToR must keep.")
]
Deployment = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of pods with LinkGuardian; below 1 only on ToR switches' links.")
]
Protection = Annotated[
    str, typer.Option(help="LinkGuardian's mode, blocking or non-blocking, or a CSV file of its effect.")
]
Mttf = Annotated[
    float | None, typer.Option("--mttf-hours", help="Mean time between the failures of a link.", show_default="10000")
]
Shape = Annotated[
    float | None,
    typer.Option(
        "--weibull-shape", help="Weibull shape; above 1 the hazard rises with age (paper: 1).", show_default="1"
    ),
]
Hours = Annotated[int | None, typer.Option("--hours", min=1, help="Length of a drawn trace.", show_default="9000")]


def _given(**options: float | None) -> dict[str, Any]:
    """Return the options set by the user."""
    return {name: value for name, value in options.items() if value is not None}


@fleet_app.command("run")
def run(
    policy: Annotated[
        str, typer.Option("--policy", "-p", help="none, disable, corropt, lg, lg+corropt, or our own lg+drain.")
    ] = "lg+corropt",
    topology: Topology = None,
    capacity: Capacity = 0.75,
    trace: TraceFile = None,
    repairs: Annotated[
        Path | None,
        typer.Option(help="Repairs to replay, in the format of a run's repairs.tsv.", show_default="drawn by --seed"),
    ] = None,
    deployment: Deployment = 1.0,
    protection: Protection = "blocking",
    mttf_hours: Mttf = None,
    weibull_shape: Shape = None,
    hours: Hours = None,
    seed: Seed = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run one year under one policy, and keep its whole series.

    Examples:

      hitless fleet run --policy lg+corropt --capacity 0.75 --out results/year
      hitless fleet run -p corropt -t fabric:pods=20 --seed 7 --json
      hitless fleet run -p corropt --trace trace.json --repairs results/year/repairs.tsv

    Policies: none; disable (take down every corrupting link); corropt (only if
    capacity allows); lg (protect it with LinkGuardian); lg+corropt (both);
    lg+drain (ours: both, worst links first).

    The penalty is the sum of the loss rates of all links that are up and corrupt
    frames; the effective penalty counts a protected link with its residual loss
    rate. The folder holds report.html, series.tsv (the published simulator's
    columns), the same as Parquet, and repairs.tsv.
    """
    from hitless.cli import fleet as command

    hazard = _given(mttf_hours=mttf_hours, weibull_shape=weibull_shape, hours=hours)
    source = command.Source(topology, trace, seed, hazard)
    code = command.run_year(
        source, policy, capacity, deployment=deployment, protection=protection, repairs=repairs, out=out, json=json
    )
    raise typer.Exit(code)


@fleet_app.command("trace")
def trace(
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("trace.json"),
    topology: Topology = None,
    mttf_hours: Mttf = None,
    weibull_shape: Shape = None,
    hours: Hours = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Draw a trace and write it in the published JSON format.

    Example:

      hitless fleet trace --topology fabric:pods=20 --seed 7 --out trace.json
    """
    from hitless.cli import fleet as command

    hazard = _given(mttf_hours=mttf_hours, weibull_shape=weibull_shape, hours=hours)
    source = command.Source(topology, None, seed, hazard)
    raise typer.Exit(command.write_trace(source, out, json=json))


@fleet_app.command("compare")
def compare(
    policies: Annotated[
        list[str] | None, typer.Option("--policy", "-p", help="Repeatable; others are compared with the first.")
    ] = None,
    capacities: Annotated[list[float] | None, typer.Option("--capacity", min=0.0, max=1.0, help="Repeatable.")] = None,
    topology: Annotated[str, typer.Option("--topology", "-t", help=_TOPOLOGY_HELP)] = "fabric",
    years: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of seeded years.")] = 20,
    deployment: Deployment = 1.0,
    protection: Protection = "blocking",
    mttf_hours: Mttf = None,
    weibull_shape: Shape = None,
    hours: Hours = None,
    seed: Seed = 1,
    out: Out = None,
    json: Json = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Years in parallel.", show_default="one per core")
    ] = None,
) -> None:
    """Run policies over the same seeded years, and compare their penalties.

    Examples:

      hitless fleet compare -p lg+corropt -p lg+drain --capacity 0.75
      hitless fleet compare -p corropt -p lg+corropt --capacity 0.5 --capacity 0.75 --years 100 --json

    Results do not depend on the number of cores. Ctrl-C keeps finished years.
    """
    from hitless.cli import fleet as command
    from hitless.fleet import Comparison, Hazard

    comparison = Comparison(
        policies or ["lg+corropt", "corropt", "lg+drain"],
        capacities or [0.5, 0.75],
        topology,
        Hazard(**_given(mttf_hours=mttf_hours, weibull_shape=weibull_shape, hours=hours)),
        deployment,
        protection,
    )
    batch = command.Years(years, seed, jobs)
    raise typer.Exit(command.compare(comparison, batch, out=out, json=json))
