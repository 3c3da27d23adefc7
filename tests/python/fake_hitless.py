"""`hitless` over the fake simulator and the fake exhibits: python fake_hitless.py ARGS."""

import sys

import fake_native

sys.modules["hitless._native"] = fake_native


def install() -> None:
    import hitless
    from hitless.exhibits import registry

    hitless._native = fake_native  # type: ignore[attr-defined]
    registry.PAPERS = (registry.Paper("demo", "A paper that nobody wrote", "fake_exhibits"),)


if __name__ == "__main__":
    install()
    from hitless.cli.main import main

    main()
