"""All five systems: at once, and on real packets.

- ``together``: one leaf-spine with every trouble (``schemes``), each system alone and taken out in turn (``outcomes``)
"""

from hitless.exhibits.together import together

__all__ = ["together"]
