"""`hitless switch`: run it, check its configuration, print an example."""

from pathlib import Path

from hitless.cli.live_result import OF_SERVICE, warn
from hitless.live import Status
from hitless.service.process import log_to_stderr, signals
from hitless.switch.configuration import EXAMPLE, read_config
from hitless.switch.service import Service
from hitless.terminal.console import print_json, print_note, print_text


def run(path: Path, *, verbose: bool) -> int:
    log_to_stderr(verbose=verbose)
    service = Service(path)
    with signals(service):
        result = service.run()
    return told_result(result, strict=service.is_strict)


def told_result(result: Status, *, strict: bool) -> int:
    values = result.values
    if result.not_written:
        print_json({"misses": result.misses, **values})
    print_note(
        f"forwarded for {values['elapsed_s']:.0f} s: {values['frames_entered']} frames in, "
        f"{values['frames_left']} out, {sum(values['drops'].values())} packets lost"
    )
    return warn(result, strict=strict, consequence=OF_SERVICE)


def check(path: Path) -> None:
    config, scenario = read_config(path)
    print_text(config.model_dump_json(indent=2))
    print_note(f"{path}: valid, and so is {scenario.file_name}; effective configuration above")


def example() -> None:
    print_text(EXAMPLE)
