// Headers shared by the programs for Tofino's native architecture, in addition to headers.p4.

#ifndef HITLESS_TNA_P4
#define HITLESS_TNA_P4

#include "headers.p4"

/// Ports of a TCP or UDP header.
header ports_t {
    bit<16> source;
    bit<16> destination;
}

#define FLOW(headers) \
    { headers.ipv4.source, headers.ipv4.destination, headers.ipv4.protocol, headers.ports.source, \
      headers.ports.destination }

#endif
