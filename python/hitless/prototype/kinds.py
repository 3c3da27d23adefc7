"""The classes that scenarios of this process can name, and their files."""

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
"""Classes by kind."""


def register(mechanisms: Iterable[MechanismClass]) -> None:
    """Let scenarios of this process name these classes. Raises `BadInput` with the reason for an invalid class.

    A class that is defined again, such as by running a cell of a notebook twice, replaces the earlier one.
    """
    for mechanism in mechanisms:
        known = _registered.get(mechanism.kind)
        if known is not mechanism:
            _register(mechanism, replaces=known is not None and _name(known) == _name(mechanism))
            _registered[mechanism.kind] = mechanism


def load(files: Sequence[Path]) -> None:
    """Register the classes in Python files. Raises `BadInput` for a file without any, or one that fails to run."""
    for file in files:
        register(_classes_of(file))


def named_in(scenario: Mapping[str, Any]) -> list[str]:
    """Return the kinds of a scenario's mechanisms that are Python classes."""
    entries = scenario.get("mechanism")
    named = [entry.get("kind") for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return sorted({kind for kind in named if kind in _registered})


def places_field(kind: str) -> str | None:
    """Return the field with the places of a class; None if the kind is no Python class."""
    return _registered[kind].places if kind in _registered else None


def identity(kinds: Collection[str]) -> str:
    """Return kinds and digests of the files of these classes, which identify them across runs; empty without any."""
    # A class in a notebook cannot be identified.
    used = [each for each in loaded() if each["kind"] in kinds]
    return "".join(f"# {each['kind']} {each['sha256'] or time.time_ns()}\n" for each in used)


def loaded() -> list[dict[str, str | None]]:
    """Return the kind of each class with its file and the file's digest, which is None for a class without a file."""
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
        raise BadInput(f"{name} is not a valid mechanism: {refused}") from refused


class _Calls:
    """Calls from the simulator into a class."""

    def __init__(self, mechanism: MechanismClass, settings: type[Any]) -> None:
        self._mechanism = mechanism
        self._settings = settings

    def check(self, values: str) -> str | None:
        """Return the errors in settings found by their own ``__post_init__``."""
        try:
            made_of(self._settings, json.loads(values))
        except ValueError as refused:
            return str(refused)
        return None

    def build(self, values: str, switch: str, ports: Sequence[int], seed: int) -> Mechanism[Any]:
        """Build the mechanism of one switch."""
        made = self._mechanism.__new__(self._mechanism)
        made.settings = made_of(self._settings, json.loads(values))
        made.switch, made.ports, made.random = switch, tuple(ports), random.Random(seed)  # noqa: S311 - no secret
        made.__init__()  # type: ignore[misc]
        return made


def _classes_of(file: Path) -> list[MechanismClass]:
    """Return the mechanisms that a file defines, in its order."""
    try:
        read_bytes(file)  # the import waits for an endless input
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
    """Import the file as a module named by its path."""
    name = str(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BadInput("a mechanism's file must be named NAME.py", where=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _place(file: Path, fault: BaseException) -> str:
    """Return the file with the line of an exception."""
    if isinstance(fault, SyntaxError):
        return f"{file}, line {fault.lineno}"
    lines: list[int] = []
    traceback: TracebackType | None = fault.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file.absolute()):
            lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return f"{file}, line {lines[-1]}" if lines else str(file)
