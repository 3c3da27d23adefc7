// The packet sequencer (section III-B) and the post-detour handler (section III-C). They keep detoured packets in
// order, and forward new packets of a flow again once S_a = S_f (section V).

const bit<32> SLOTS = 4096;

/// S_f, the next number to release, and the time since packets have waited for it; 0 if no packet waits.
register<bit<32>>(SLOTS) next_number;
register<bit<32>>(SLOTS) waiting_since_ns;
/// S_a, the next number to assign.
register<bit<32>>(SLOTS) next_assigned;
/// Neighbour of the current detour.
register<port_t>(SLOTS) neighbours;

/// Decides whether an unnumbered packet for a relieved port is detoured.
control NewPacket(inout metadata_t meta, inout headers_t headers, out bit<1> is_detoured) {
    apply {
        bit<32> next;
        bit<32> number;
        next_number.read(next, meta.slot);
        next_assigned.read(number, meta.slot);
        is_detoured = 0;
        bool is_first = number == next;
        bool wants = meta.phase == DETOUR || (meta.phase == NO_ALARM && !is_first);
        if (wants && meta.has_choice == 1 && meta.choice_is_full == 0) {
            is_detoured = 1;
            next_assigned.write(meta.slot, number + 1);
            port_t kept;
            neighbours.read(kept, meta.slot);
            ports_t kept_bit = (ports_t) 1 << (bit<8>) kept;
            // Packets of one detour stay with its neighbour while its queue is less than half full.
            if (is_first || meta.roomy & kept_bit == 0) {
                neighbours.write(meta.slot, meta.choice);
            } else {
                meta.choice = kept;
            }
            headers.detour.setValid();
            headers.detour.sequence = number;
            headers.detour.origin = meta.origin;
            headers.detour.detours = 0;
            headers.detour.depth_segments = 0;
            headers.detour.ether_type = headers.ethernet.ether_type;
            headers.ethernet.ether_type = ETHERTYPE_DETOUR;
        }
    }
}

/// Decides whether a returned packet is detoured again. It is released in its turn once the queue is below the
/// threshold, or when it is forced out.
control Returning(in metadata_t meta, in bit<32> number, in bit<1> is_forced, out bit<1> is_detoured) {
    apply {
        bit<32> next;
        bit<32> since_ns;
        bit<32> now_ns = meta.now_ns[31:0];
        next_number.read(next, meta.slot);
        waiting_since_ns.read(since_ns, meta.slot);
        bool is_open = is_forced == 0 && meta.phase != DETOUR;
        bit<32> ahead = number - next;
        if (is_open && ahead != 0 && ahead < 0x80000000) {
            // It waits. After a timeout the number before the waiting packets counts as lost.
            if (since_ns == 0) { since_ns = now_ns; }
            if (since_ns == 0) { since_ns = 1; }
            if (now_ns - since_ns >= meta.timeout_ns) {
                next = next + 1;
                since_ns = now_ns - (meta.timeout_ns - (meta.timeout_ns >> 2));
                if (since_ns == 0) { since_ns = 1; }
                ahead = number - next;
            }
        }
        is_detoured = 1;
        if (ahead >= 0x80000000) {
            // Its number has been given up.
            if (is_forced == 1 || is_open) { is_detoured = 0; }
        } else if (ahead == 0 && !is_open && is_forced == 0) {
            since_ns = 0;
        } else if (ahead == 0 || is_forced == 1) {
            is_detoured = 0;
            next = number + 1;
            since_ns = 0;
        }
        next_number.write(meta.slot, next);
        waiting_since_ns.write(meta.slot, since_ns);
    }
}
