// States of a parser that reads the ports behind an IPv4 header.

state ipv4 {
    packet.extract(headers.ipv4);
    transition select(headers.ipv4.protocol) {
        6: ports;
        17: ports;
        default: accept;
    }
}
state ports {
    packet.extract(headers.ports);
    transition accept;
}
