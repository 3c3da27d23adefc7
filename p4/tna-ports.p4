// Parser states for IPv4 and the TCP or UDP ports.

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
