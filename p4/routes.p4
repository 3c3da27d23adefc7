// Routing, a part of each program's ingress. Without a matching entry the switch routes the packet.

action send(port_t port) { standard.egress_spec = port; }
action as_routed() { routed_port(standard.egress_spec); }
action drop() { mark_to_drop(standard); }

table routes {
    key = { headers.ipv4.destination: lpm; }
    actions = { send; as_routed; drop; }
    default_action = as_routed();
    size = 1024;
}
