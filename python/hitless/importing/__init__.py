"""Scenarios from the files of other simulators and switches: `hitless scenario import`."""

from hitless.importing.files import Imported, import_files
from hitless.importing.htsim_matrix import StartUnit
from hitless.importing.report import Report
from hitless.importing.writing import TransportKind

__all__ = ["Imported", "Report", "StartUnit", "TransportKind", "import_files"]
