"""A sweep in twelve lines, for a user who has only installed hitless: scripts/check-wheel runs it."""

import sys

import hitless as hl

link = {"kind": "linkguardian", "link": "sw2->sw6", "target_loss_rate": 1e-8}
swept = hl.sweep(
    hl.example("linkguardian-testbed").with_("flows[0].count", 2_000),
    {
        "link[0].loss.rate": [1e-4, 1e-3, 1e-2],
        "mechanism": {"none": [], "LG": [link | {"mode": "blocking"}], "LG_NB": [link | {"mode": "non-blocking"}]},
    },
    seeds=int(sys.argv[1]) if len(sys.argv) > 1 else 20,
)
print(swept.intervals("p99.9 FCT").drop("of", "unit"))
swept.plot("p99.9 FCT").save("tail.svg")
