"""The coarse maps as exhibits, with more seeds than in tests."""

from dataclasses import replace
from functools import partial

from hitless.envelope.places import COARSE
from hitless.envelope.systems import SYSTEMS
from hitless_papers.envelope.exhibit import Envelope
from hitless_papers.registry import Entry, register

_SEEDS = 5

for _name, _system in SYSTEMS.items():
    _make = partial(Envelope, _system, replace(COARSE, seeds=_SEEDS))
    register(Entry(f"envelope/{_name}", f"{_name}: {_system.trouble}", headline=False, make=_make))
