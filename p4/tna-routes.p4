// Routing, a part of each program's ingress. Include it after the action `send`.

action drop() { for_deparser.drop_ctl = 1; }
table routes {
    key = { headers.ipv4.destination: lpm; }
    actions = { send; drop; }
    default_action = drop();
    size = 1024;
}
