// LinkGuardian's headers in frames of a protected link, which a whole frame of a host follows. The formats are those in
// crates/mechanisms/src/linkguardian/headers and crates/core/src/wire/link.

const bit<16> ETHERTYPE_LINK = 0x88B5;
const bit<8> LINK_VERSION = 1;

/// Follows the outer Ethernet header.
header link_t {
    bit<8> version;
    bit<1> has_inner;
    bit<3> zero;
    bit<4> shims;
}

const bit<8> KIND_DATA = 1;
const bit<8> KIND_ACK = 2;
const bit<8> KIND_LOSS = 3;
const bit<8> KIND_PAUSE = 4;

const bit<2> TYPE_DATA = 0;
const bit<2> TYPE_ACK = 1;
const bit<2> TYPE_ACK_WITH_LOSS = 2;
const bit<2> TYPE_TX_BUFFERED = 3;

/// Header of a protected packet (section 3.5). Its number is the era followed by 16 bits.
header data_t {
    bit<8>  kind;
    bit<2>  packet_type;
    bit<1>  channel;
    bit<1>  era;
    bit<1>  retransmitted;
    bit<1>  dummy;
    bit<1>  blocking;
    bit<1>  rx_buffered;
    bit<16> sequence;
}

/// Acknowledgement: all numbers up to this were received or reported lost.
header ack_t {
    bit<8>  kind;
    bit<2>  packet_type;
    bit<1>  piggybacked;
    bit<1>  era;
    bit<1>  channel;
    bit<3>  zero;
    bit<16> acknowledged;
}

/// Follows an acknowledgement: `count` numbers are lost, starting with `first_lost` (appendix A.1).
header loss_t {
    bit<8>  kind;
    bit<8>  count;
    bit<16> first_lost;
    bit<8>  era;
}

/// Pauses or resumes a class at the link partner (section 3.3).
header pause_t {
    bit<8>  kind;
    bit<8>  class;
    bit<16> quanta;
}

/// Precedes the carried frame.
header inner_t {
    bit<16> bytes;
}

struct headers_t {
    generated_t generated;
    ethernet_t  outer;
    link_t      link;
    data_t      data;
    ack_t       ack;
    loss_t      loss;
    pause_t     pause;
    inner_t     inner;
    ethernet_t  ethernet;
    ipv4_t      ipv4;
}

/// Number with its era, modulo 131,072.
typedef bit<17> number_t;
const number_t HALF_CIRCLE = 0x10000;

/// Roles of packets that LinkGuardian made or keeps.
const bit<4> ROLE_NONE = 0;
const bit<4> ROLE_COPY = 1;
const bit<4> ROLE_REPAIR = 2;
const bit<4> ROLE_DUMMY = 3;
const bit<4> ROLE_ACK = 4;
const bit<4> ROLE_LOSS = 5;
const bit<4> ROLE_PAUSE = 6;
const bit<4> ROLE_BUFFERED = 7;

struct metadata_t {
    /// Role of the clone made in this pass. In a notification: first loss, number of losses, and the last number seen.
    @field_list(7) bit<4>   clone_role;
    @field_list(7) number_t first_lost;
    @field_list(7) bit<8>   lost;
    @field_list(7) number_t seen_until;
    /// Port of the protected link, recirculation port, and the ends of the link at this switch.
    @field_list(7) port_t   link_port;
    @field_list(7) port_t   recirculation_port;

    bit<4>  role;
    /// Shims that the parser has not read yet.
    bit<4>  shims_left;
    bit<1>  is_sender;
    bit<1>  is_receiver;
    /// Length of the carried frame without check sequence.
    bit<16> inner_bytes;
    /// Settings of sections 3.1, 3.2, 3.5 and 3.3.
    bit<8>  dummies;
    bit<8>  acks;
    bit<2>  copies;
    bit<32> timeout_ns;
    bit<32> pause_bytes;
    bit<32> resume_bytes;
    bit<48> now_ns;
}

/// Converts a number on the wire to 17 bits.
#define NUMBER(era, value) ((number_t) (era ++ value))

/// Settings of the link.
control Settings(inout metadata_t meta) {
    action set_link(port_t link_port, port_t recirculation_port, bit<1> is_sender, bit<1> is_receiver) {
        meta.link_port = link_port;
        meta.recirculation_port = recirculation_port;
        meta.is_sender = is_sender;
        meta.is_receiver = is_receiver;
    }
    /// The protected link. The default is a port that does not exist, which disables protection.
    table link {
        actions = { set_link; }
        default_action = set_link(511, 511, 0, 0);
    }

    action set_protection(bit<8> dummies, bit<8> acks, bit<2> copies, bit<32> timeout_ns, bit<32> pause_bytes,
                          bit<32> resume_bytes) {
        meta.dummies = dummies;
        meta.acks = acks;
        meta.copies = copies;
        meta.timeout_ns = timeout_ns;
        meta.pause_bytes = pause_bytes;
        meta.resume_bytes = resume_bytes;
    }
    /// Dummies and acknowledgements per gap in the traffic, copies of a retransmission (1 or 2), ackNoTimeout, and
    /// thresholds of the reordering buffer.
    table protection {
        actions = { set_protection; }
        default_action = set_protection(1, 1, 1, 7500, 40000, 36800);
    }

    apply {
        link.apply();
        protection.apply();
        timestamp_ns(meta.now_ns);
    }
}

/// Queues at the link's port: for retransmissions, and for gaps in the traffic. Those of classes are between them.
const queue_t REPAIR_QUEUE = OWN_QUEUE;
const queue_t DUMMY_QUEUE = OWN_QUEUE + 1;
const queue_t ACK_QUEUE = OWN_QUEUE + 2;

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_GENERATED: generated;
            default: outer;
        }
    }
    state generated {
        packet.extract(headers.generated);
        transition accept;
    }
    state outer {
        transition select(packet.lookahead<ethernet_t>().ether_type) {
            ETHERTYPE_LINK: link;
            default: ethernet;
        }
    }
    state link {
        packet.extract(headers.outer);
        packet.extract(headers.link);
        meta.shims_left = headers.link.shims;
        transition shim;
    }
    state shim {
        transition select(meta.shims_left) {
            0: behind_shims;
            default: one_shim;
        }
    }
    state one_shim {
        meta.shims_left = meta.shims_left - 1;
        transition select(packet.lookahead<bit<8>>()) {
            KIND_DATA: data;
            KIND_ACK: ack;
            KIND_LOSS: loss;
            KIND_PAUSE: pause;
            default: accept;
        }
    }
    state data {
        packet.extract(headers.data);
        transition shim;
    }
    state ack {
        packet.extract(headers.ack);
        transition shim;
    }
    state loss {
        packet.extract(headers.loss);
        transition shim;
    }
    state pause {
        packet.extract(headers.pause);
        transition shim;
    }
    state behind_shims {
        transition select(headers.link.has_inner) {
            1: inner;
            default: accept;
        }
    }
    state inner {
        packet.extract(headers.inner);
        transition ethernet;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition accept;
    }
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.generated);
        packet.emit(headers.outer);
        packet.emit(headers.link);
        packet.emit(headers.data);
        packet.emit(headers.ack);
        packet.emit(headers.loss);
        packet.emit(headers.pause);
        packet.emit(headers.inner);
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
    }
}

/// Turns the packet into a frame of the link with `shims` headers still to write and no carried frame.
control MakeLinkFrame(inout headers_t headers, in bit<4> shims) {
    apply {
        headers.generated.setInvalid();
        headers.data.setInvalid();
        headers.ack.setInvalid();
        headers.loss.setInvalid();
        headers.pause.setInvalid();
        headers.inner.setInvalid();
        headers.ethernet.setInvalid();
        headers.ipv4.setInvalid();
        headers.outer.setValid();
        headers.outer.destination = 0xFFFFFFFFFFFF;
        headers.outer.source = 0;
        headers.outer.ether_type = ETHERTYPE_LINK;
        headers.link.setValid();
        headers.link.version = LINK_VERSION;
        headers.link.has_inner = 0;
        headers.link.zero = 0;
        headers.link.shims = shims;
    }
}
