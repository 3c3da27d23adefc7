"""The command line: its table of commands. Each is loaded when it runs, or to show its help."""

import gc
import os
import sys
from typing import Annotated, Any

import typer

from hitless.cli.lazy import Command, LazyGroup, adjusted, import_help
from hitless.errors import HitlessError, explained, was_interrupted
from hitless.native import STALE, stale
from hitless.terminal import console

COMMANDS = {
    "reproduce": Command(
        "hitless_papers.cli.reproduce_app:reproduce",
        "Measure figures and tables of papers, each number beside the paper's.",
    ),
    "run": Command("hitless.cli.run_app:run", "Run one scenario and keep all of its results."),
    "resume": Command("hitless.cli.run_app:resume", "Resume a killed or interrupted run from its newest checkpoint."),
    "envelope": Command(
        "hitless_papers.cli.reproduce_app:envelope",
        "Map where a mechanism helps: rates, cables, frames, loads and transports.",
    ),
    "compare": Command(
        "hitless.cli.run_app:compare", "Run two scenarios with the same seeds, and report the significant differences."
    ),
    "sweep": Command(
        "hitless.cli.run_app:sweep",
        "Run a scenario over a grid of settings and seeds: a Parquet data set, and a report with a plot for each axis.",
    ),
    "report": Command(
        "hitless.cli.reading_app:report", "List the plots of a results folder, or draw one as a figure for a paper."
    ),
    "why": Command(
        "hitless.cli.reading_app:why",
        "Explain why flows were slow: their completion times, divided along the critical path.",
    ),
    "trace": Command(
        "hitless.cli.reading_app:trace", "Follow one packet through the captures of a run, or write the run's timeline."
    ),
    "switch": Command(
        "hitless.cli.live_app:switch_app",
        "Run a scenario's switches on this box's interfaces, and control a running one.",
    ),
    "link": Command(
        "hitless.cli.live_app:link_app",
        "Protect one end of a real link with LinkGuardian; check its interfaces, control a running one.",
    ),
    "scenario": Command(
        "hitless.cli.scenario_app:scenario_app",
        "Check, draw and import scenario files, show their fields, print examples.",
    ),
    "fleet": Command(
        "hitless.cli.fleet_app:fleet_app",
        "Simulate a datacenter's corrupting links for years: taken down, protected, repaired.",
    ),
    "lab": Command(
        "hitless.cli.lab_app:lab_app",
        "Run real programs over a scenario: its hosts as network namespaces (docs/how-to/labs.md).",
    ),
    "mechanism": Command(
        "hitless.cli.extend_app:mechanism_app",
        "Write a mechanism, and compile it with the simulator (docs/how-to/mechanism-in-rust.md).",
    ),
    "transport": Command(
        "hitless.cli.extend_app:transport_app",
        "Write a congestion control, and compile it with the simulator (docs/how-to/transport-in-rust.md).",
    ),
    "p4": Command(
        "hitless.cli.p4_app:p4_app",
        "Run P4 programs that p4c compiled: packet tests, the path of a packet, a whole fabric.",
    ),
    "bench": Command("hitless.cli.bench_app:bench_app", "Measure the speed of hitless itself."),
    "results": Command(
        "hitless_papers.cli.results_app:results_app",
        "Keep what the exhibits showed, and render the tables of the docs.",
    ),
    "corruptd": Command(
        "hitless.cli.corruptd_app:corruptd_app", "Run a daemon that finds corrupting links and protects them."
    ),
}
"""Commands with the place of their code, as in entry points, and their summary in the main help.

Commands about papers are named here, as text, so that lower layers do not import them.
"""


class _Commands(LazyGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(COMMANDS, **attributes)


app = typer.Typer(
    name="hitless",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from hitless import _native

        console.print_text(f"hitless {_native.version()}")
        raise typer.Exit


@app.callback()
def hitless(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Print errors with their traceback.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """See what a datacenter loses when links corrupt or fail and buffers overflow, and how much switches recover.

    Simulate a scenario, and see the effect of a mechanism:

      hitless scenario example linkguardian-testbed > mine.toml
      hitless run mine.toml
      hitless compare mine.toml --without linkguardian

    Measure a figure of a paper and compare it with the paper's numbers:

      hitless reproduce --list
      hitless reproduce lg/fig8 --quick

    Bring a scenario up on this machine as root, with real programs at the ends:

      hitless scenario example lossy-link --write
      hitless lab up lossy-link.toml

    Simulate a datacenter's corrupting links for a year; write a mechanism:

      hitless fleet run
      hitless mechanism new early-drop

    Guides and reference are in docs/index.md of the repository, and on its site.
    Numbers and tables go to stdout, everything else to stderr.
    Exit code 0: done. 1: a run or a check failed. 2: wrong usage or input. 130: interrupted.
    """
    if debug:
        console.show_causes()
    if context.invoked_subcommand not in {"mechanism", "transport"} and stale():
        console.print_note(STALE)


def main() -> None:
    # Nothing here multiplies matrices, but starting numpy's threads for linear algebra takes a tenth of a second.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports make many objects and no garbage; collections would take a twentieth of a short run's time.
    gc.set_threshold(50_000)
    console.be_tolerant()
    if "--debug" in sys.argv:  # errors in arguments come before the option is read
        console.show_causes()
    if not {"-h", "--help"}.isdisjoint(sys.argv):
        import_help()
    try:
        adjusted(typer.main.get_command(app))()
    except HitlessError as error:
        console.print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        console.print_note("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        console.leave(sys.stdout)
    except Exception as fault:  # noqa: BLE001 - the last line of defence: no traceback reaches a user unasked
        if was_interrupted(fault):
            console.print_note("interrupted")
            sys.exit(130)
        found = explained(fault)
        found.__cause__ = fault
        console.print_error(found)
        if isinstance(fault, OSError):
            console.leave(sys.stdout)
        sys.exit(found.exit_code)
