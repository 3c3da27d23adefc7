// Headers that several programs share, in the format of crates/core/src/wire.

#ifndef HITLESS_HEADERS_P4
#define HITLESS_HEADERS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
/// Frame lengths include the check sequence, which the programs do not see.
const bit<32> CHECK_SEQUENCE_BYTES = 4;

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

/// Follows IPv4: the sender's priority of the packet (Practical Packet Deflection, section 3). Its last byte is the
/// protocol of the next header.
const bit<8> PROTOCOL_PRIORITY_MARK = 253;

header priority_mark_t {
    bit<32> rank_bytes;
    bit<16> flowlet;
    bit<1>  is_first;
    bit<2>  reserved;
    bit<5>  retransmissions;
    bit<8>  protocol;
}

/// Fields under the checksum of an IPv4 header without options.
#define IPV4_CHECKSUM_FIELDS(ipv4)                                                                                   \
    { ipv4.version, ipv4.header_words, ipv4.dscp, ipv4.ecn, ipv4.total_bytes, ipv4.identification, ipv4.flags,       \
      ipv4.fragment_offset, ipv4.ttl, ipv4.protocol, ipv4.source, ipv4.destination }

#endif
