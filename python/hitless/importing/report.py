"""The report of an import: mapped, assumed and unmapped contents of files."""

from dataclasses import dataclass, field

_SHOWN = 20


@dataclass
class Report:
    """Sentences about an import, each beginning with its file, line or key."""

    mapped: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    not_mapped: list[str] = field(default_factory=list)

    def sections(self) -> list[tuple[str, list[str]]]:
        return [("mapped", self.mapped), ("assumed", self.assumed), ("not mapped", self.not_mapped)]

    def text(self) -> str:
        lines = []
        for heading, sentences in self.sections():
            lines += [f"{heading}:", *(f"  {sentence}" for sentence in sentences or ["-"])]
        return "\n".join(lines)


def listed(names: list[str]) -> str:
    """Return names as text, the first ones if there are many."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1."""
    return (
        f"{count} {noun}"
        if count == 1
        else f"{count} {noun.removesuffix('ch')}{'ches' if noun.endswith('ch') else 's'}"
    )
