"""Scenarios from the files of other simulators and switches: `hitless scenario import`.

- ``htsim_matrix``, ``htsim_topology``: connection matrices and topologies of htsim
- ``hpcc``, ``hpcc_config``: topologies, flows and configurations of HPCC's and SimAI's ns-3 programs
- ``sonic``: buffers and marking of SONiC's config_db.json
- ``model``, ``writing``: the network between the formats, and the scenario
- ``report``: mapped, assumed and unmapped contents
"""

from hitless.importing.files import Imported, import_files
from hitless.importing.htsim_matrix import StartUnit
from hitless.importing.report import Report
from hitless.importing.writing import TransportKind

__all__ = ["Imported", "Report", "StartUnit", "TransportKind", "import_files"]
