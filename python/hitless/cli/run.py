"""`hitless run`: one scenario, from a file to a folder of results."""

from dataclasses import replace
from pathlib import Path

from hitless._native import CheckedScenario
from hitless.checking import checked
from hitless.checkpoints import Checkpoints, Every, RunRequest, can_resume, take_away
from hitless.cli.answer import show_answer
from hitless.cli.execute import Execution, execute
from hitless.cli.run_app import RunOptions
from hitless.cli.scenario_text import STANDARD_INPUT, shown_name
from hitless.errors import BadInput
from hitless.outcome.mechanisms import counters_above_zero
from hitless.outcome.schema import schema_version
from hitless.results import ResultsFolder
from hitless.runs.result import Measurement
from hitless.runs.scenario_run import scenario_run
from hitless.simulation import PacketSimulation, RowsFolder, Simulation
from hitless.terminal.console import print_json, print_note
from hitless.whole_file import file_name, name_of


def run_scenario(scenario: CheckedScenario, options: RunOptions) -> int:
    """Run a valid scenario, read from the file in the options; return the exit code."""
    path, seed, out, json = options.scenario, options.seed, options.out, options.json
    is_file = path != STANDARD_INPUT
    request = RunRequest(
        name_of(Path(path.stem)) if is_file else "stdin",
        shown_name(path),
        scenario.text,
        name_of(path) if is_file else None,
        seed,
    )
    if options.checkpoint is None:
        return run_request(request, scenario, out=out, json=json)
    every = Every.of(options.checkpoint, "--checkpoint")
    request = replace(request, file=name_of(path.absolute()) if is_file else None, checkpoint=options.checkpoint)
    refusal = Simulation(scenario, file_name=request.file or request.shown, seed=seed).checkpoint_refusal()
    if refusal is not None:
        raise BadInput(refusal, where=request.shown, hint="run it without --checkpoint")
    return run_request(request, scenario, out=out, json=json, checkpoints=Checkpoints(request, every))


def resume_run(folder: Path, *, json: bool) -> int:
    """Resume the run with results in ``folder`` from its newest checkpoint; return the exit code."""
    request = RunRequest.read(folder)
    scenario = checked(request.text, request.file or request.shown)
    checkpoints = Checkpoints(request, Every.of(request.checkpoint, str(folder)), resumes=True)
    return run_request(request, scenario, out=folder, json=json, checkpoints=checkpoints)


def run_request(
    request: RunRequest,
    scenario: CheckedScenario,
    *,
    out: Path | None,
    json: bool,
    checkpoints: Checkpoints | None = None,
) -> int:
    """Run the scenario of a request; return the exit code. With ``checkpoints`` its rows are kept in memory."""
    rows = RowsFolder()
    work = PacketSimulation(scenario, request.file, rows, checkpoints)
    study = scenario_run(request.name, request.shown, work, request.seed)

    def make_folder() -> ResultsFolder:
        resumes = checkpoints is not None and checkpoints.resumes
        folder = ResultsFolder(f"run-{request.name}", out, may_replace=resumes)
        if checkpoints is None:
            rows.path = folder.path / file_name(study.id)
        else:
            checkpoints.folder = folder.path
            if not resumes:
                _write_request(request, folder)
        return folder

    execution = execute(study, make_folder, request.name)
    if checkpoints is not None:
        _end_checkpoints(execution)
    [result] = execution.results
    run = study.tasks[0].run
    if json:
        about = {"schema": schema_version(), "scenario": request.shown, "folder": str(execution.folder.path)}
        found = {name: value for name, value in result.as_json().items() if name != "id"}
        counters = counters_above_zero(run.tables.get("mechanisms") if run is not None else None).to_dicts()
        summary = run.summary.values if run is not None else None
        print_json({**about, **found, "mechanisms": counters, "summary": summary})
    elif run is not None:
        show_answer(request.shown, run)
    execution.tell()
    return execution.exit_code


def _write_request(request: RunRequest, folder: ResultsFolder) -> None:
    try:
        take_away(folder.path)
        request.write(folder.path)
    except OSError as refused:
        raise folder.give_up(refused) from refused


def _end_checkpoints(execution: Execution[Measurement]) -> None:
    """Remove the checkpoint of a finished run; an interrupted or failed run can be resumed."""
    folder = execution.folder.path
    if execution.exit_code == 0:
        take_away(folder)
    elif can_resume(folder):
        print_note(f"hitless resume {folder} resumes from the newest checkpoint")
