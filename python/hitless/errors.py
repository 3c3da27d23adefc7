"""Errors for people: what is wrong, where, the rule, and a hint. Never a traceback."""


class HitlessError(Exception):
    """Something that ends a command; ``exit_code`` 1 means that a run failed."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", rule: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.rule = rule
        self.hint = hint

    def __str__(self) -> str:
        """The message as it is shown, one line for each part."""
        parts = [("error", self.what), ("  where", self.where), ("  rule", self.rule), ("  hint", self.hint)]
        return "\n".join(f"{name}: {text}" for name, text in parts if text)


class BadInput(HitlessError):
    """The command or a file it was given is wrong: exit code 2."""

    exit_code = 2


class RefusedScenario(BadInput):
    """A scenario that the simulator refused; its message is complete and shown as it is."""

    def __str__(self) -> str:
        """The simulator's own message."""
        return self.what if self.what.startswith("error") else f"error: {self.what}"
