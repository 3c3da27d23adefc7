"""Link load in AFQ's cluster with perfect transports, without packets.

    python tests/validation/afq_load.py 90

Flows arrive as in `hitless_papers.afq.cluster`, and every 50 us the active flows share the links max-min fairly: each
sends as fast as its slowest link allows. The output is the use of the core links, for the whole run and in tenths,
including headers and acknowledgements; then the same with hosts' links alone.
"""

import sys

import numpy as np

from hitless_papers.afq import cluster
from hitless_papers.afq.sizes import ENTERPRISE, PAYLOAD_SHARE

RUN_S, STEP_S = 0.02, 50e-6
HOSTS = cluster.LEAVES * cluster.HOSTS_PER_LEAF
CORE_LINKS = cluster.LEAVES * cluster.SPINES
HOST_RATE = cluster.HOST_GBPS * 1e9 * PAYLOAD_SHARE / 8
CORE_RATE = cluster.CORE_GBPS * 1e9 * PAYLOAD_SHARE / 8
NO_LINK = 2 * HOSTS + 2 * CORE_LINKS


def fair_rates(links, capacity):
    """Return max-min fair rates of flows over their links (a row each); ``NO_LINK`` has unlimited capacity."""
    rates, waiting, free = np.zeros(len(links)), np.ones(len(links), dtype=bool), capacity.copy()
    while waiting.any():
        flows = np.bincount(links[waiting].ravel(), minlength=NO_LINK + 1)[:NO_LINK]
        shares = np.where(flows > 0, free / np.maximum(flows, 1), np.inf)
        least = shares.min()
        fixed = waiting & np.isin(links, np.flatnonzero(shares <= least * 1.0001)).any(axis=1)
        rates[fixed] = least
        taken = np.bincount(links[fixed].ravel(), minlength=NO_LINK + 1)[:NO_LINK] * least
        free = np.maximum(free - taken, 0)
        waiting &= ~fixed
    return rates


def used_percent(load, *, with_core, seed=1):
    """Return the use of the core links in percent, step by step."""
    random = np.random.default_rng(seed)
    flows = random.poisson(cluster.flows_per_second(ENTERPRISE, load / 100, RUN_S) * RUN_S)
    start, left = np.sort(random.uniform(0, RUN_S, flows)), ENTERPRISE.quantiles(random.uniform(0, 1, flows))
    source = random.integers(0, HOSTS, flows)
    sink = (source + random.integers(1, HOSTS, flows)) % HOSTS
    spine, up, down = random.integers(0, cluster.SPINES, flows), source // 32, sink // 32
    crossing = up != down
    core = crossing & with_core
    links = np.stack([
        source,
        HOSTS + sink,
        np.where(core, 2 * HOSTS + up * cluster.SPINES + spine, NO_LINK),
        np.where(core, 2 * HOSTS + CORE_LINKS + down * cluster.SPINES + spine, NO_LINK),
    ], axis=1)  # fmt: skip
    capacity = np.r_[np.full(2 * HOSTS, HOST_RATE), np.full(2 * CORE_LINKS, CORE_RATE)]
    sent = []
    for end in np.arange(1, round(RUN_S / STEP_S) + 1) * STEP_S:
        active = np.flatnonzero((start < end) & (left > 0))
        moved = np.minimum(left[active], fair_rates(links[active], capacity) * np.minimum(STEP_S, end - start[active]))
        left[active] -= moved
        sent.append(moved[crossing[active]].sum())
    data, acknowledgements = ENTERPRISE.wire_bytes(cluster.HOST_GBPS * 1e9, RUN_S)
    return 100 * np.array(sent) * (1 + acknowledgements / data) / (CORE_LINKS * CORE_RATE * STEP_S)


def main():
    for load in map(int, sys.argv[1:] or ["30", "50", "70", "90"]):
        used = used_percent(load, with_core=True)
        print(f"load {load} %: {used.mean():.1f} %, by tenths {used.reshape(10, -1).mean(axis=1).round()}")
        print(f"  hosts' links alone: {used_percent(load, with_core=False).mean():.1f} %")


if __name__ == "__main__":
    main()
