// The cache: copies packets, circulates the copies, and sends or ends each copy (sections III-B to III-E).

/// Measures the load of each port, and finds the least loaded port (section III-D).
control Utilization(inout metadata_t meta, in standard_metadata_t standard) {
    register<bit<32>>(PORTS) window_started_ns;
    register<bit<32>>(PORTS) window_bytes;

    action leave_out() {}
    /// Ports with queues outside the ring.
    table not_of_ring {
        key = { standard.egress_port: exact; }
        actions = { leave_out; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    apply {
        bit<32> port = (bit<32>) standard.egress_port;
        bit<32> started_ns;
        bit<32> load_bytes;
        window_started_ns.read(started_ns, port);
        window_bytes.read(load_bytes, port);
        if (meta.now_ns - started_ns >= meta.window_ns) {
            window_started_ns.write(port, meta.now_ns);
            load_bytes = 0;
        }
        load_bytes = load_bytes |+| (standard.packet_length + CHECK_SEQUENCE_BYTES);
        window_bytes.write(port, load_bytes);
        bit<32> least;
        least_port.read(meta.least_loaded, 0);
        least_bytes.read(least, 0);
        if (!not_of_ring.apply().hit) {
            if (load_bytes < least || meta.least_loaded == standard.egress_port) {
                meta.least_loaded = standard.egress_port;
                least_port.write(0, meta.least_loaded);
                least_bytes.write(0, load_bytes);
            }
        }
    }
}

/// Algorithm 2 for an original packet.
control Originals(inout metadata_t meta, inout standard_metadata_t standard) {
    counter(PORTS, CounterType.packets) copies;
    counter(PORTS, CounterType.packets) kept_back;

    apply {
        bit<32> port = (bit<32>) standard.egress_port;
        bit<16> way;
        backup_ports.read(way, port);
        if (meta.is_marked == 0) {
            // An unprotected packet also takes the backup port, once there is one.
            if (way != WAY_OWN && way != WAY_NONE) {
                queue_t queue;
                class_queue((port_t) (way - 1), queue);
                send_to_queue((port_t) (way - 1), queue);
            }
            return;
        }
        bit<32> tag;
        bit<32> next;
        assigned.read(tag, port);
        next_tag.read(next, port);
        assigned.write(port, tag + 1);
        meta.is_cached = 1;
        meta.tag = tag;
        meta.started_ns = meta.now_ns;
        meta.primary = standard.egress_port;
        if (way == WAY_OWN && next == tag) {
            next_tag.write(port, tag + 1);
            copies.count(port);
            clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
            direct_clone(meta.least_loaded, RING_QUEUE);
        } else {
            meta.is_kept_back = 1;
            kept_back.count(port);
            send_to_queue(meta.primary, WAITING_QUEUE);
        }
    }
}

/// Updates the wait for the tag `next`. After a timeout the packet at the exit asks to skip to the lowest waiting tag.
control Wait(inout metadata_t meta, in bit<32> next) {
    apply {
        bit<32> port = (bit<32>) meta.primary;
        bit<32> at;
        bit<32> since_ns;
        bit<32> lowest;
        stalled_at.read(at, port);
        stalled_since_ns.read(since_ns, port);
        lowest_waiting.read(lowest, port);
        if (at != ~next) {
            stalled_at.write(port, ~next);
            stalled_since_ns.write(port, meta.now_ns);
            since_ns = meta.now_ns;
            lowest = meta.tag;
        } else if (meta.tag - lowest >= 0x80000000) {
            lowest = meta.tag;
        }
        lowest_waiting.write(port, lowest);
        // Longer than a copy needs for one round with thousands of others on a busy port.
        bit<32> stall_ns = meta.failure_delay_ns << 2;
        if (stall_ns < 10000000) { stall_ns = 10000000; }
        meta.has_skip = 0;
        if (meta.now_ns - since_ns >= stall_ns && lowest != next) {
            meta.has_skip = 1;
            meta.skip_from = next;
            meta.skip_to = lowest;
        }
    }
}

/// Algorithms 1 to 3 for a packet in the cache.
control Cached(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Wait() wait;
    counter(PORTS, CounterType.packets) resent;
    counter(PORTS, CounterType.packets) ended;

    apply {
        bit<32> port = (bit<32>) meta.primary;
        bit<16> way;
        bit<32> next;
        backup_ports.read(way, port);
        next_tag.read(next, port);
        port_t way_out = meta.primary;
        if (way != WAY_OWN) { way_out = (port_t) (way - 1); }
        bit<32> age_ns = meta.now_ns - meta.started_ns;
        bool is_old_enough = meta.is_kept_back == 1 || age_ns >= meta.failure_delay_ns;
        bool is_at_way_out = is_old_enough && way != WAY_NONE && way_out == standard.egress_port;
        if (meta.has_skip == 1 && meta.skip_from == next) {
            next = meta.skip_to;
            next_tag.write(port, next);
        }
        bit<32> ahead = meta.tag - next;
        if (ahead >= 0x80000000) {
            // The copy of a packet that has been sent.
            if (age_ns >= meta.steady_delay_ns) {
                bit<32> first_lost;
                retired.read(first_lost, port);
                bit<32> further = meta.tag + 1 - first_lost;
                if (further != 0 && further < 0x80000000) { retired.write(port, meta.tag + 1); }
                ended.count(port);
                mark_to_drop(standard);
            } else {
                send_to_queue(meta.least_loaded, RING_QUEUE);
            }
        } else if (ahead == 0 && is_at_way_out) {
            next_tag.write(port, next + 1);
            resent.count(port);
            bit<32> kept;
            kept_from.read(kept, port);
            // The last copy: packets that were held back follow.
            if (kept == meta.tag + 1) { resume_queue(meta.primary, WAITING_QUEUE); }
            // Copies the packet again, so that it survives a second failure.
            meta.started_ns = meta.now_ns;
            meta.is_kept_back = 0;
            meta.has_skip = 0;
            clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
            direct_clone(meta.least_loaded, RING_QUEUE);
        } else {
            if (is_at_way_out) { wait.apply(meta, next); }
            if (!is_old_enough) {
                send_to_queue(meta.least_loaded, RING_QUEUE);
            } else if (way != WAY_NONE && (way != WAY_OWN || meta.is_kept_back == 0)) {
                send_to_queue(way_out, RING_QUEUE);
            } else if (meta.is_kept_back == 1) {
                send_to_queue(meta.primary, WAITING_QUEUE);
            } else {
                send_to_queue(meta.least_loaded, RING_QUEUE);
            }
        }
    }
}
