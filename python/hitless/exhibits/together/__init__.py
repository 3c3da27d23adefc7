"""All five systems: at once, and on real packets.

- ``live``: a lab for each system, without it and with it, and unmodified kernels that send (``scenes``, ``lab_work``)
"""

from hitless.exhibits.together import live

__all__ = ["live"]
