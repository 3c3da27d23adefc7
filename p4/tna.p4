// What the variants for Tofino's native architecture share beyond the headers of all programs.

#ifndef HITLESS_TNA_P4
#define HITLESS_TNA_P4

#include "headers.p4"

/// The ports of a TCP or UDP header.
header ports_t {
    bit<16> source;
    bit<16> destination;
}

#define FLOW(headers) \
    { headers.ipv4.source, headers.ipv4.destination, headers.ipv4.protocol, headers.ports.source, \
      headers.ports.destination }

#endif
