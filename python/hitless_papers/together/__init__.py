"""All five systems: at once, and on real packets.

- ``together``: one leaf-spine with every trouble (``schemes``), each system alone and taken out in turn (``outcomes``)
- ``live``: a lab for each system, without it and with it, and unmodified kernels that send (``scenes``, ``lab_work``)
"""
