"""Builds wheels and source distributions: maturin, and the types of scenarios in each wheel.

python/hitless/types.py is not in git, because the compiled simulator has the schema that it is made from. So a wheel is
built twice: the first one gives the simulator, the second one contains the types. Cargo compiles only once.
"""

import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import maturin
from maturin import (  # noqa: F401 - the other hooks of PEP 517 and 660
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

Settings = Mapping[str, Any] | None
SCENARIO_TYPES = Path(__file__).with_name("scenario-types")
LIBRARY = "hitless/_native.abi3.so"


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel with the types."""
    with TemporaryDirectory() as folder:
        first = maturin.build_wheel(folder, config_settings, metadata_directory)
        with zipfile.ZipFile(Path(folder, first)) as wheel:
            write_types(wheel.extract(LIBRARY, folder))
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel that points to the checkout, where maturin leaves the simulator, and write the types there."""
    name = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    write_types(str(SCENARIO_TYPES.parents[1] / "python" / LIBRARY))
    return name


def write_types(library: str) -> None:
    """Write python/hitless/types.py, in another process, which can load the library."""
    subprocess.run([sys.executable, SCENARIO_TYPES, "--write", library], check=True)
