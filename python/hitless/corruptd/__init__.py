"""corruptd: the daemon that finds corrupting links and switches LinkGuardian on and off (SIGCOMM 2023, appendix C).

The downstream switch of a link sees its corruption in the counters of the MAC; the upstream switch must protect it. The
daemon of each switch watches its incoming links, and guards its outgoing links on behalf of the daemons downstream.

From the inside out; nothing above ``daemon`` reads a clock or does input or output:

- ``window``: counter readings to a loss rate over the last W frames
- ``detection``: loss rates to a decision, with hysteresis: when to protect, with how many copies, in which mode
- ``messages``: the messages between daemons; ``protocol``: their timing and validity
- ``daemon``: one step of everything, with the time as an argument
- ``sources``: counters of Linux, SONiC and a switch; ``actors``: a switch, a hook command, a report only
- ``live``: a running `hitless link` or `hitless switch`, as a source of counters and as an actor
- ``bus``, ``redis_bus``: publish-subscribe on one machine, and over Redis
- ``state``: data that survives a restart; ``metrics``: Prometheus; ``config``: the file; ``service``: the process
"""

import logging

# A library leaves the choice of log outputs to the program.
logging.getLogger(__name__).addHandler(logging.NullHandler())
