// What the variants for Tofino's native architecture share: headers, and the parts of a pipeline that none of them
// changes.

#ifndef HITLESS_TNA_P4
#define HITLESS_TNA_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  header_words;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_bytes;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

/// The ports of a TCP or UDP header.
header ports_t {
    bit<16> source;
    bit<16> destination;
}

#define FLOW(headers) \
    { headers.ipv4.source, headers.ipv4.destination, headers.ipv4.protocol, headers.ports.source, \
      headers.ports.destination }

#endif
