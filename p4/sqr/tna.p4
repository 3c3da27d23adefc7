// SQR for Tofino (ICNP 2019, algorithms 1 to 3 and section III-D), entirely in egress, where a packet's port is known.
// A copy is an egress mirror that begins with the paper's metadata. A waiting copy is mirrored again to a queue of the
// least loaded port, through a session for each queue, and dropped.

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

/// First byte of a packet in egress: a normal packet (0), or a copy (1), which begins with a cache_t.
const bit<8> IS_NORMAL = 0;
const bit<8> IS_CACHED = 1;
const MirrorType_t MIRROR_CACHE = 1;
const int<32> WINDOW_NS = 150000;

/// PktTag, StartEgressTstamp and PrimaryPort (section III-F).
header cache_t {
    bit<8>  kind;
    bit<32> tag;
    bit<32> started_ns;
    bit<16> primary;
}

/// First byte of a packet that is not a copy.
header bridge_t {
    bit<8> kind;
}

struct headers_t {
    bridge_t   kind;
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct ingress_metadata_t {}

parser IngressParse(packet_in packet, out headers_t headers, out ingress_metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
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

control Ingress(inout headers_t headers, inout ingress_metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port) { for_tm.ucast_egress_port = port; }
#include "../tna-routes.p4"
    apply {
        routes.apply();
        headers.kind.setValid();
        headers.kind.kind = IS_NORMAL;
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in ingress_metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

struct egress_headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

/// A stateful ALU takes each number from one container.
@pa_container_size("egress", "meta.load_bytes", 32)
@pa_container_size("egress", "meta.own_port", 16)
struct metadata_t {
    cache_t    cache;
    bit<9>     primary;
    int<32>    now_ns;
    bit<32>    age_ns;
    bit<32>    long_ago_ns;
    int<32>    bytes;
    bit<32>    load_bytes;
    bit<32>    own_port;
    bit<32>    least_port;
    bit<32>    next;
    bit<32>    ahead;
    int<32>    behind;
    bit<32>    way;
    bit<1>     is_marked;
    bit<1>     is_cached;
    bit<1>     is_at_way_out;
    bit<1>     is_old_enough;
    MirrorId_t session;
}

parser EgressParse(packet_in packet, out egress_headers_t headers, out metadata_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.is_marked = 0;
        meta.is_at_way_out = 0;
        meta.is_old_enough = 0;
        meta.next = 0;
        meta.least_port = 0;
        transition select(packet.lookahead<bit<8>>()) {
            IS_CACHED: cached;
            default: normal;
        }
    }
    state cached {
        packet.extract(meta.cache);
        meta.is_cached = 1;
        transition ethernet;
    }
    state normal {
        packet.advance(8);
        meta.is_cached = 0;
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

struct window_t {
    int<32> until_ns;
    int<32> bytes;
}

struct least_t {
    bit<32> load_bytes;
    bit<32> port;
}

control Egress(inout egress_headers_t headers, inout metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    action mark() { meta.is_marked = 1; }
    action mark_not() { meta.is_marked = 0; }
    table protected {
        key = {
            intrinsic.egress_port: exact;
            headers.ipv4.dscp: exact;
        }
        actions = { mark; mark_not; }
        default_action = mark_not();
        size = 1024;
    }

    /// backupPort: current egress port for the packets of each primary port; written by the control plane.
    Register<bit<32>, bit<9>>(512, 0) ways;
    RegisterAction<bit<32>, bit<9>, bit<32>>(ways) read_way = {
        void apply(inout bit<32> value, out bit<32> way) { way = value; }
    };

    /// Bytes of a port in a window of 150 us (section III-D), and the window's end. Times are signed, so that their
    /// difference is right after the clock wraps.
    Register<window_t, bit<9>>(512) windows;
    RegisterAction<window_t, bit<9>, int<32>>(windows) count_bytes = {
        void apply(inout window_t value, out int<32> load) {
            if (meta.now_ns - value.until_ns >= 0) {
                value.until_ns = meta.now_ns + WINDOW_NS;
                value.bytes = meta.bytes;
            } else {
                value.bytes = value.bytes + meta.bytes;
            }
            load = value.bytes;
        }
    };
    /// LeastLoadedPort and LeastUtilization.
    Register<least_t, bit<1>>(1) least_loaded;
    RegisterAction<least_t, bit<1>, bit<32>>(least_loaded) compare_load = {
        void apply(inout least_t value, out bit<32> port) {
            if (meta.load_bytes < value.load_bytes || meta.own_port == value.port) {
                value.load_bytes = meta.load_bytes;
                value.port = meta.own_port;
            }
            port = value.port;
        }
    };
    RegisterAction<least_t, bit<1>, bit<32>>(least_loaded) read_least = {
        void apply(inout least_t value, out bit<32> port) { port = value.port; }
    };

    /// PktTag.
    Register<bit<32>, bit<9>>(512, 0) assigned;
    RegisterAction<bit<32>, bit<9>, bit<32>>(assigned) take_tag = {
        void apply(inout bit<32> value, out bit<32> tag) {
            tag = value;
            value = value + 1;
        }
    };
    /// NextPktTag.
    Register<bit<32>, bit<9>>(512, 0) next_tag;
    RegisterAction<bit<32>, bit<9>, bit<32>>(next_tag) go_on = {
        void apply(inout bit<32> value, out bit<32> next) {
            next = value;
            if (value == meta.cache.tag) { value = value + 1; }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(next_tag) read_next = {
        void apply(inout bit<32> value, out bit<32> next) { next = value; }
    };
    /// First tag that may have been lost: sending continues there after a failure.
    Register<int<32>, bit<9>>(512, 0) retired;
    RegisterAction<int<32>, bit<9>, int<32>>(retired) retire = {
        void apply(inout int<32> value) {
            if (meta.behind - value > 0) { value = meta.behind; }
        }
    };

    action take_time() {
        meta.now_ns = (int<32>) (bit<32>) from_parser.global_tstamp;
        meta.bytes = (int<32>) (bit<32>) intrinsic.pkt_length;
        meta.own_port = (bit<32>) intrinsic.egress_port;
    }
    action measure_age() { meta.age_ns = (bit<32>) meta.now_ns - meta.cache.started_ns; }
    action start_cache() {
        meta.cache.kind = IS_CACHED;
        meta.cache.started_ns = (bit<32>) meta.now_ns;
        meta.cache.primary = (bit<16>) intrinsic.egress_port;
        meta.primary = intrinsic.egress_port;
    }
    action take_primary() { meta.primary = (bit<9>) meta.cache.primary; }
    action do_count() { meta.load_bytes = (bit<32>) count_bytes.execute(intrinsic.egress_port); }
    action do_compare() { meta.least_port = compare_load.execute(0); }
    action do_read_least() { meta.least_port = read_least.execute(0); }
    action take_long_ago() { meta.long_ago_ns = (bit<32>) meta.now_ns ^ 0x80000000; }
    action compare_tags() {
        meta.ahead = meta.cache.tag - meta.next;
        meta.behind = (int<32>) (meta.cache.tag + 1);
    }

    /// Delay of section III-C, in a register written by the control plane.
    Register<bit<32>, bit<1>>(1, 0) delay;
    RegisterAction<bit<32>, bit<1>, bit<1>>(delay) compare_age = {
        void apply(inout bit<32> value, out bit<1> is_old_enough) {
            is_old_enough = 0;
            if (meta.age_ns >= value) { is_old_enough = 1; }
        }
    };
    action do_compare_age() { meta.is_old_enough = compare_age.execute(0); }

    /// Copies a departing packet now. A copy sent from the cache is copied too, so that it survives a second failure.
    action cache_in(MirrorId_t session) {
        for_deparser.mirror_type = MIRROR_CACHE;
        meta.session = session;
        meta.cache.started_ns = (bit<32>) meta.now_ns;
    }
    action move_to(MirrorId_t session) {
        for_deparser.mirror_type = MIRROR_CACHE;
        meta.session = session;
        for_deparser.drop_ctl = 1;
    }
    /// Holds back an original if its port is down or copies must go first. It only waits for its turn in the order, so
    /// its age is set above any delay.
    action keep_back(MirrorId_t session) {
        move_to(session);
        meta.cache.started_ns = meta.long_ago_ns;
    }
    action end() { for_deparser.drop_ctl = 1; }
    action leave() {}
    /// Algorithm 2: by the kind of packet, the state of its port, and its turn (algorithm 3), the packet is sent and
    /// copied, held back, circulated, or dropped. A session is a queue of a port.
    table judge {
        key = {
            meta.is_cached: exact;
            meta.is_old_enough: exact;
            meta.is_at_way_out: exact;
            meta.ahead: ternary;
            meta.least_port: ternary;
            meta.way: ternary;
        }
        actions = { cache_in; keep_back; move_to; end; leave; }
        default_action = leave();
        size = 512;
    }

    action at_way_out() { meta.is_at_way_out = 1; }
    table way_out {
        key = {
            meta.way: exact;
            intrinsic.egress_port: exact;
        }
        actions = { at_way_out; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        take_time();
        if (meta.is_cached == 0) {
            if (headers.ipv4.isValid()) { protected.apply(); }
            start_cache();
            take_long_ago();
            do_count();
            do_compare();
        } else {
            take_primary();
            measure_age();
            do_compare_age();
            do_read_least();
        }
        if (meta.is_cached == 1 || meta.is_marked == 1) {
            meta.way = read_way.execute(meta.primary);
            way_out.apply();
            if (meta.is_cached == 0) { meta.cache.tag = take_tag.execute(meta.primary); }
            if (meta.is_at_way_out == 1 && (meta.is_cached == 0 || meta.is_old_enough == 1)) {
                meta.next = go_on.execute(meta.primary);
            } else {
                meta.next = read_next.execute(meta.primary);
            }
            compare_tags();
            judge.apply();
            if (meta.is_cached == 1 && for_deparser.drop_ctl == 1 && for_deparser.mirror_type == 0) {
                retire.execute(meta.primary);
            }
        }
    }
}

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR_CACHE) {
            mirror.emit<cache_t>(meta.session,
                                 { meta.cache.kind, meta.cache.tag, meta.cache.started_ns, meta.cache.primary });
        }
        packet.emit(headers);
    }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
