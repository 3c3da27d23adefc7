"""What the paper does not measure.

- ``weights``: tenants and flows that weigh more than others
- ``fast_links``: 100 and 400 Gbps, and how many bytes a round should have
- ``many_flows``: 100,000 connections on one link
- ``shared_buffer``: fewer queues in use when a buffer that ports share gets short
- ``rivals``: FQ-CoDel and DRR with a queue for each flow, in the cluster
"""

from hitless_papers import Parts, exhibit
from hitless_papers.afq.beyond.fast_links import FastLinks
from hitless_papers.afq.beyond.many_flows import ManyFlows
from hitless_papers.afq.beyond.rivals import Rivals
from hitless_papers.afq.beyond.shared_buffer import SharedBuffer
from hitless_papers.afq.beyond.weights import Weights


@exhibit("afq/beyond", title="AFQ beyond the paper: weights, rates, many flows, shared buffers, rivals")
class Beyond(Parts):
    """Nothing here is judged."""

    parts = (Weights, FastLinks, ManyFlows, SharedBuffer, Rivals)
