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
from hitless.prototype.transport import Transport
from hitless.whole_file import read_bytes

MechanismClass: TypeAlias = type[Mechanism[Any]]
TransportClass: TypeAlias = type[Transport[Any]]
_AnyClass: TypeAlias = MechanismClass | TransportClass

_registered: dict[str, _AnyClass] = {}
"""Classes by kind."""


def register(mechanisms: Iterable[MechanismClass], transports: Iterable[TransportClass] = ()) -> None:
    """Let scenarios of this process name these classes. Raises `BadInput` with the reason for an invalid class.

    A class that is defined again, such as by running a cell of a notebook twice, replaces the earlier one.
    """
    classes: tuple[_AnyClass, ...] = (*mechanisms, *transports)
    for each in classes:
        known = _registered.get(each.kind)
        if known is not each:
            _register(each, replaces=known is not None and _name(known) == _name(each))
            _registered[each.kind] = each


def load(mechanisms: Sequence[Path], transports: Sequence[Path] = ()) -> None:
    """Register the classes in Python files. Raises `BadInput` for a file without any, or if it fails to run."""
    for file in mechanisms:
        register(_classes_of(file, Mechanism, 'class MyMechanism(hitless.Mechanism[Settings], kind="my-mechanism")'))
    for file in transports:
        register((), _classes_of(file, Transport, 'class MyTransport(hitless.Transport, kind="my-transport")'))


def named_in(scenario: Mapping[str, Any]) -> list[str]:
    """Return the kinds of a scenario's mechanisms and congestion controls that are Python classes."""
    named = [entry.get("kind") for entry in _entries(scenario, "mechanism")]
    for transport in _entries(scenario, "transport"):
        congestion = transport.get("congestion")
        named.append(congestion.get("kind") if isinstance(congestion, Mapping) else congestion)
    return sorted({kind for kind in named if isinstance(kind, str) and kind in _registered})


def _entries(scenario: Mapping[str, Any], section: str) -> list[Mapping[str, Any]]:
    """Return the tables of a list in a scenario that may be wrong."""
    entries = scenario.get(section)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def places_field(kind: str) -> str | None:
    """Return the field with the places of a mechanism's class; None for other kinds."""
    made = _registered.get(kind)
    return made.places if made is not None and issubclass(made, Mechanism) else None


def identity(kinds: Collection[str]) -> str:
    """Return kinds and digests of the files of these classes, which identify them across runs; empty without any."""
    # A class in a notebook cannot be identified.
    used = [each for each in loaded() if each["kind"] in kinds]
    return "".join(f"# {each['kind']} {each['sha256'] or time.time_ns()}\n" for each in used)


def loaded() -> list[dict[str, str | None]]:
    """Return the kind of each class with its file and the file's digest, which is None for a class without a file."""
    return [{"kind": kind, **_origin(mechanism)} for kind, mechanism in sorted(_registered.items())]


def _origin(mechanism: _AnyClass) -> dict[str, str | None]:
    try:
        file = Path(inspect.getfile(mechanism))
        return {"file": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    except (OSError, TypeError):
        return {"file": None, "sha256": None}


def _name(mechanism: _AnyClass) -> tuple[str, str]:
    return mechanism.__module__, mechanism.__qualname__


def _register(owner: _AnyClass, *, replaces: bool) -> None:
    name = owner.__name__
    is_transport = issubclass(owner, Transport)
    if not owner.kind:
        base = "hitless.Transport" if is_transport else "hitless.Mechanism[Settings]"
        raise BadInput(f"{name} has no kind", hint=f'class {name}({base}, kind="...")')
    try:
        if issubclass(owner, Transport):
            _register_transport(owner, replaces=replaces)
        else:
            _register_mechanism(owner, replaces=replaces)
    except (TypeError, ValueError) as refused:
        what = "transport" if is_transport else "mechanism"
        raise BadInput(f"{name} is not a valid {what}: {refused}") from refused


def _register_mechanism(mechanism: MechanismClass, *, replaces: bool) -> None:
    settings = mechanism.settings_class()
    profile = {
        "name": mechanism.kind,
        "title": mechanism.title,
        "summary": _summary(mechanism),
        "stage": mechanism.stage,
        "places": mechanism.places,
        "claims": list(mechanism.claims),
        "queues": mechanism.queues,
        "marks": mechanism.marks,
        "counters": dict(mechanism.counters),
        "header_bytes": mechanism.header_bytes,
        "schema": schema_of(settings),
    }
    calls = _Calls(mechanism, settings)
    defined = mechanism.hooks_defined()
    _native.register_mechanism(json.dumps(profile), calls.check, calls.build, defined, replaces)


def _register_transport(transport: TransportClass, *, replaces: bool) -> None:
    settings = transport.settings_class()
    behaviour = {
        "sets_cwnd": transport.sets_cwnd,
        "samples_delivery_rate": transport.samples_delivery_rate,
        "paces": transport.paces,
        "ecn": transport.ecn,
    }
    if transport.on_ack is Transport.on_ack:
        raise TypeError("it has no on_ack")
    if transport.samples_delivery_rate and not transport.sets_cwnd:
        raise TypeError("samples_delivery_rate needs sets_cwnd=True")
    schema = schema_of(settings) | {"additionalProperties": False}
    profile = {"name": transport.kind, "summary": _summary(transport), "behaviour": behaviour, "schema": schema}
    calls = _TransportCalls(transport, settings)
    _native.register_transport(json.dumps(profile), calls.check, calls.build, replaces)


def _summary(owner: _AnyClass) -> str:
    return (inspect.getdoc(owner) or owner.__name__).splitlines()[0]


class _Checked:
    """The check of a class's settings."""

    def __init__(self, settings: type[Any]) -> None:
        self._settings = settings

    def check(self, values: str) -> str | None:
        """Return the errors in settings found by their own ``__post_init__``."""
        try:
            self._made(values)
        except ValueError as refused:
            return str(refused)
        return None

    def _made(self, values: str) -> Any:
        return made_of(self._settings, json.loads(values))


class _TransportCalls(_Checked):
    """Calls from the simulator into a class of transports."""

    def __init__(self, transport: TransportClass, settings: type[Any]) -> None:
        super().__init__(settings)
        self._transport = transport

    def build(self, values: str, mss: int, cwnd: float, seed: int) -> Transport[Any]:
        """Build the congestion control of a connection."""
        made = self._transport.__new__(self._transport)
        made._begin(mss, cwnd)  # noqa: SLF001 - only the simulator calls it
        made.settings, made.seed = self._made(values), seed
        made.__init__()  # type: ignore[misc]
        made.cwnd = cwnd
        return made


class _Calls(_Checked):
    """Calls from the simulator into a class of mechanisms."""

    def __init__(self, mechanism: MechanismClass, settings: type[Any]) -> None:
        super().__init__(settings)
        self._mechanism = mechanism

    def build(self, values: str, switch: str, ports: Sequence[int], seed: int) -> Mechanism[Any]:
        """Build the mechanism of a switch."""
        made = self._mechanism.__new__(self._mechanism)
        made.settings = self._made(values)
        made.switch, made.ports, made.random = switch, tuple(ports), random.Random(seed)  # noqa: S311 - no secret
        made.__init__()  # type: ignore[misc]
        return made


def _classes_of(file: Path, base: type[Any], hint: str) -> list[type[Any]]:
    """Return the classes derived from ``base`` that a file defines, in its order."""
    what = base.__name__.lower()
    try:
        read_bytes(file)  # the import waits for an endless input
        module = _imported(file.absolute())
    except OSError as refused:
        raise BadInput(f"cannot read the {what}: {refused.strerror}", where=str(file)) from refused
    except Exception as fault:
        told = f"the {what} cannot be read: {type(fault).__name__}: {fault}"
        raise BadInput(told, where=_place(file, fault)) from fault
    classes = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, base)]
    own = [each for each in classes if each.__module__ == module.__name__]
    if not own:
        raise BadInput(f"the file defines no {what}", where=str(file), hint=hint)
    return own


def _imported(file: Path) -> ModuleType:
    """Import the file as a module named by its path."""
    name = str(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BadInput("a file with Python classes must be named NAME.py", where=name)
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
