"""Switch resources that a mechanism states, for the papers' resource tables.

The switch's resources are the budget of the preset "tofino-like"; docs/explanation/resources.md names the sources.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hitless.checking import Fields, scenario_resources

STAGES = 12
STATEFUL_ALUS = 4 * STAGES
SRAM_BLOCKS = 80 * STAGES
"""SRAM blocks, shared by tables and registers; 100 % in a compiler's report."""
BLOCK_BITS = 128 * 1024

Register: TypeAlias = Mapping[str, Any]

TABLES_TOO = "the compiler's figure includes tables, headers and the surrounding program, ours only registers"
"""Reason why most figures of a compiler have no verdict."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Resources of a mechanism on a switch."""

    takes: Mapping[str, int]
    """Amounts by name, with the unit in the name."""
    registers: tuple[Register, ...]

    def bits(self, wanted: Callable[[Register], bool] = lambda _: True) -> int:
        """Return the bits of state in the wanted registers, before rounding to register widths."""
        return sum(int(register["bits"]) for register in self.registers if wanted(register))

    def field_bits(self, array: str, field: str) -> int:
        """Return the bits of one field in all cells of the arrays with this name prefix."""
        wanted = [register for register in self.registers if register["name"].startswith(array)]
        return sum(int(of["fields"].get(field, 0)) * int(of["cells"]) * int(of["arrays"]) for of in wanted)


def statement(scenario: Fields, switch: str, mechanism: str) -> Statement:
    """Return the resources of ``mechanism`` on ``switch`` without a run.

    Raises `KeyError` if the switch does not run the mechanism.
    """
    for found in scenario_resources(scenario):
        if switch in found["switches"]:
            for stated in found["mechanisms"]:
                if stated["mechanism"] == mechanism:
                    return Statement(stated["takes"], tuple(stated["registers"]))
    raise KeyError(f"{switch} does not run {mechanism}")


def width(bits: int) -> int:
    """Return the register width for this number of bits."""
    return next((width for width in (1, 8, 16, 32, 64) if bits <= width), 64)


def blocks(cells: int, bits: int) -> int:
    """Return the SRAM blocks of an array: those of its cells, and one more for two accesses per cycle."""
    return -(-cells * width(bits) // BLOCK_BITS) + 1
