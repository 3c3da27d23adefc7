"""Which classes scenarios of this process may name, and the files that they are read from."""

import hashlib
import importlib.util
import inspect
import json
import random
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeAlias

from hitless import _native
from hitless.errors import BadInput
from hitless.prototype.mechanism import Mechanism
from hitless.prototype.settings import made_of, schema_of
from hitless.whole_file import read_bytes

MechanismClass: TypeAlias = type[Mechanism[Any]]

_registered: dict[str, MechanismClass] = {}
"""By kind."""


def register(mechanisms: Iterable[MechanismClass]) -> None:
    """Let scenarios name these classes from now on. Raises `BadInput` with the reason when one cannot be.

    A class that is defined again, as a cell of a notebook does that is run again, takes the place of the earlier one.
    """
    for mechanism in mechanisms:
        known = _registered.get(mechanism.kind)
        if known is not mechanism:
            _register(mechanism, replaces=known is not None and _name(known) == _name(mechanism))
            _registered[mechanism.kind] = mechanism


def load(files: Sequence[Path]) -> None:
    """Register the classes of Python files. Raises `BadInput` for a file that has none or cannot be run."""
    for file in files:
        register(_classes_of(file))


def named_in(scenario: Mapping[str, Any]) -> list[str]:
    """The kinds of a scenario's mechanisms that are classes of Python."""
    entries = scenario.get("mechanism")
    named = [entry.get("kind") for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return sorted({kind for kind in named if kind in _registered})


def identity(kinds: Collection[str]) -> str:
    """What tells these classes from those of another run: kinds, and digests of their files. Empty without any."""
    # Of a class of a notebook nobody can tell whether it is the same.
    used = [each for each in loaded() if each["kind"] in kinds]
    return "".join(f"# {each['kind']} {each['sha256'] or time.time_ns()}\n" for each in used)


def loaded() -> list[dict[str, str | None]]:
    """The kind of each class, the file that it is from, and the digest of that; None for a class without a file."""
    return [{"kind": kind, **_origin(mechanism)} for kind, mechanism in sorted(_registered.items())]


def _origin(mechanism: MechanismClass) -> dict[str, str | None]:
    try:
        file = Path(inspect.getfile(mechanism))
        return {"file": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    except (OSError, TypeError):
        return {"file": None, "sha256": None}


def _name(mechanism: MechanismClass) -> tuple[str, str]:
    return mechanism.__module__, mechanism.__qualname__


def _register(mechanism: MechanismClass, *, replaces: bool) -> None:
    name = mechanism.__name__
    if not mechanism.kind:
        raise BadInput(f"{name} has no kind", hint=f'class {name}(hitless.Mechanism[Settings], kind="...")')
    try:
        settings = mechanism.settings_class()
        profile = {
            "name": mechanism.kind,
            "title": mechanism.title,
            "summary": (inspect.getdoc(mechanism) or name).splitlines()[0],
            "stage": mechanism.stage,
            "places": mechanism.places,
            "claims": list(mechanism.claims),
            "queues": mechanism.queues,
            "marks": mechanism.marks,
            "schema": schema_of(settings),
        }
        calls = _Calls(mechanism, settings)
        defined = mechanism.hooks_defined()
        _native.register_mechanism(json.dumps(profile), calls.check, calls.build, defined, replaces)
    except (TypeError, ValueError) as refused:
        raise BadInput(f"{name} cannot be a mechanism: {refused}") from refused


class _Calls:
    """What the simulator asks of a class."""

    def __init__(self, mechanism: MechanismClass, settings: type[Any]) -> None:
        self._mechanism = mechanism
        self._settings = settings

    def check(self, values: str) -> str | None:
        """What is wrong with settings by their own ``__post_init__``."""
        try:
            made_of(self._settings, json.loads(values))
        except ValueError as refused:
            return str(refused)
        return None

    def build(self, values: str, switch: str, ports: Sequence[int], seed: int) -> Mechanism[Any]:
        """The mechanism of one switch."""
        made = self._mechanism.__new__(self._mechanism)
        made.settings = made_of(self._settings, json.loads(values))
        made.switch, made.ports, made.random = switch, tuple(ports), random.Random(seed)  # noqa: S311 - no secret
        made.__init__()  # type: ignore[misc]
        return made


def _classes_of(file: Path) -> list[MechanismClass]:
    """The mechanisms that a file defines, in its order."""
    try:
        read_bytes(file)  # the import waits for what never ends
        module = _imported(file.absolute())
    except OSError as refused:
        raise BadInput(f"cannot read the mechanism: {refused.strerror}", where=str(file)) from refused
    except Exception as fault:
        what = f"the mechanism cannot be read: {type(fault).__name__}: {fault}"
        raise BadInput(what, where=_place(file, fault)) from fault
    classes = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, Mechanism)]
    own = [each for each in classes if each.__module__ == module.__name__]
    if not own:
        hint = 'class MyMechanism(hitless.Mechanism[Settings], kind="my-mechanism")'
        raise BadInput("the file defines no mechanism", where=str(file), hint=hint)
    return own


def _imported(file: Path) -> ModuleType:
    """The file as a module whose name is its path."""
    name = str(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BadInput("a file of a mechanism is called NAME.py", where=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _place(file: Path, fault: BaseException) -> str:
    """The file, with the line in it at which something was raised."""
    if isinstance(fault, SyntaxError):
        return f"{file}, line {fault.lineno}"
    lines: list[int] = []
    traceback: TracebackType | None = fault.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file.absolute()):
            lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return f"{file}, line {lines[-1]}" if lines else str(file)
