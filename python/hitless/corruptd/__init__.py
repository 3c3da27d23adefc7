"""corruptd: the daemon that finds corrupting links and switches LinkGuardian on and off (SIGCOMM 2023, appendix C).

The switch *behind* a link sees its corruption in the counters of its MAC; the switch *before* it has to protect it. A
daemon beside each switch watches the links that end there, and guards those that begin there, on behalf of the
daemons behind them.

From the inside out; nothing above ``daemon`` looks at a clock or does input or output:

- ``window``: counter readings to a loss rate over the last W frames
- ``detection``: loss rates to a decision, with hysteresis: when to protect, with how many copies, in which mode
- ``messages``: what daemons say to each other; ``protocol``: when they say it, and what they believe
- ``daemon``: one step of all of it, the time an argument
- ``sources``: Linux's, SONiC's and a switch's counters; ``actors``: a switch, a hook command, a report only
- ``bus``, ``redis_bus``: publish-subscribe on one box, and over Redis
- ``state``: what survives a restart; ``metrics``: Prometheus; ``config``: the file; ``service``: the process
"""

import logging

# As a library it leaves it to the program whether and where to write.
logging.getLogger(__name__).addHandler(logging.NullHandler())
