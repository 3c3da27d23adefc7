"""`hitless` over the fake simulator and the fake exhibits: python fake_hitless.py ARGS."""

import json
import re
import sys

import fake_native

sys.modules["hitless._native"] = fake_native


def _bench_alone(call: str, _what: str, _under: object = ()) -> object:
    """What a process of its own would measure, had it this simulator."""
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", call).groups()
    return json.loads(getattr(fake_native, name)(*json.loads(f"[{arguments}]".replace("'", '"'))))


def install() -> None:
    import hitless
    from hitless import bench
    from hitless.exhibits import registry

    hitless._native = fake_native  # type: ignore[attr-defined]
    bench._alone = _bench_alone
    registry.PAPERS = (registry.Paper("demo", "Demo", "A paper that nobody wrote", "fake_exhibits"),)


if __name__ == "__main__":
    install()
    from hitless.cli.main import main

    main()
