"""`hitless` over the fake simulator and the fake exhibits, for importers: python fake_hitless.py ARGS."""

import json
import re
import sys

import fake_native

sys.modules["hitless._native"] = fake_native

import hitless  # noqa: E402
from hitless import bench  # noqa: E402
from hitless_papers import registry  # noqa: E402


def _bench_alone(call: str, _what: str, _under: object = ()) -> object:
    """Return the measurement that a separate process would make with this simulator."""
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", call).groups()
    return json.loads(getattr(fake_native, name)(*json.loads(f"[{arguments}]".replace("'", '"'))))


hitless._native = fake_native  # type: ignore[attr-defined]
bench._alone = _bench_alone
registry.PAPERS = (registry.Paper("demo", "Demo", "A paper that nobody wrote", "fake_exhibits"),)

# Modules imported now only find this simulator and these papers.
from hitless.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
