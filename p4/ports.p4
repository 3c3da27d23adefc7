// Ports 0 to 15 of a switch as bits of a word, for the deflecting programs.

#ifndef HITLESS_PORTS_P4
#define HITLESS_PORTS_P4

const bit<9> PORTS = 16;
typedef bit<16> ports_t;

/// Writes `DO(port)` once for each port.
#define EACH_PORT(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)

/// Keeps the ports with failed links, as reported by the switch's generated packets: a set bit is a failed link.
control LinkStates(in generated_t generated, in bool is_generated, out ports_t down) {
    register<ports_t>(1) down_ports;
    apply {
        @atomic {
            down_ports.read(down, 0);
            if (is_generated) {
                ports_t port = (ports_t) 1 << (bit<8>) generated.port;
                if (generated.kind == GENERATED_PORT_DOWN || generated.kind == GENERATED_PORT_REROUTED) {
                    down = down | port;
                } else if (generated.kind == GENERATED_PORT_UP) {
                    down = down & ~port;
                }
                down_ports.write(0, down);
            }
        }
    }
}

#endif
