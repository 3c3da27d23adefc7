"""Named parts of the scenarios of tests, and `world`, which puts them together as TOML."""

import tomli_w


def world(name, *parts, **settings):
    """Return a scenario as text; of two parts with a list of the same name, both lists count."""
    whole = {"name": name, **settings}
    for part in parts:
        for key, value in part.items():
            whole[key] = [*whole.get(key, []), *value] if isinstance(value, list) else value
    return tomli_w.dumps(whole)


def _link(rate, delay):
    return {"rate": rate, "delay": delay}


def dumbbell(left, right, host=("10 Gbps", "1 us"), bottleneck=("10 Gbps", "1 us")):
    hosts = {"hosts_left": left, "hosts_right": right}
    return {"topology": {"kind": "dumbbell", **hosts, "host_link": _link(*host), "bottleneck": _link(*bottleneck)}}


def leaf_spine(spines, per_leaf, host=("10 Gbps", "1 us"), core=("10 Gbps", "1 us")):
    """Return two leaves with hosts."""
    size = {"leaves": 2, "spines": spines, "hosts_per_leaf": per_leaf}
    return {"topology": {"kind": "leaf-spine", **size, "host_link": _link(*host), "core_link": _link(*core)}}


def ideal(per_port=None, **settings):
    buffer = {"buffer": {"kind": "static", "per_port": per_port}} if per_port else {}
    return {"switch": {"preset": "ideal", **buffer, **settings}}


def tcp(name="tcp", **settings):
    return {"transport": [{"name": name, "kind": "tcp", **settings}]}


def flows(kind, sources, destinations, *, name, transport="tcp", **settings):
    ends = {"sources": sources, "destinations": destinations}
    return {"flows": [{"name": name, "kind": kind, "transport": transport, **ends, **settings}]}


def fixed(size):
    return {"kind": "fixed", "bytes": size}


def websearch(largest):
    return {"kind": "cdf", "table": "websearch_dctcp_hpcc", "largest": largest}
