"""Short TCP flows of this kernel between the hosts of a lab, sequentially on each of several threads.

serve: accepts flows and prints the arrival time of each last byte. send ADDRESS THREADS SECONDS: sends flows with the
sizes on standard input, cyclically. A flow is a separate connection: the client opens it, writes the size and the
number of the flow and then zeros, and gets a one-byte answer once everything has arrived. Both print a line of JSON for
each flow; times come from the machine's only monotonic clock.
"""

import contextlib
import json
import socket
import struct
import sys
import threading
import time

PORT = 5001
# struct tcp_info of linux/tcp.h, by offset; total_rto since 6.7.
FIELDS = {"retransmitted": (100, "I"), "dsack_dups": (216, "I"), "reord_seen": (220, "I"), "timeouts": (240, "H")}
FIELDS |= {"rtt_us": (68, "I"), "ooo_received": (224, "I")}
_print_lock = threading.Lock()


def counted(connection):
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256).ljust(256, b"\0")
    return {name: struct.unpack_from("=" + kind, info, offset)[0] for name, (offset, kind) in FIELDS.items()}


def tell(entry):
    with _print_lock:
        print(json.dumps(entry), flush=True)


def take(connection):
    with connection, contextlib.suppress(OSError, struct.error):
        head = connection.recv(8, socket.MSG_WAITALL)
        number, left = struct.unpack("!II", head)
        left -= 8
        while left > 0:
            left -= len(connection.recv(min(left, 1 << 20)))
        came_ns = time.monotonic_ns()
        connection.sendall(b"1")
        connection.recv(1)
        tell({"flow": number, "came_ns": came_ns, **counted(connection)})


def serve():
    with socket.create_server(("", PORT), backlog=64) as here:
        print("ready", flush=True)
        while True:
            connection, _ = here.accept()
            threading.Thread(target=take, args=(connection,), daemon=True).start()


def send_one(address, number, size):
    with socket.socket() as connection:
        connection.settimeout(60)
        began_ns = time.monotonic_ns()
        connection.connect((address, PORT))
        opened_ns = time.monotonic_ns()
        connection.sendall(struct.pack("!II", number, size).ljust(size, b"\0"))
        connection.recv(1)
        done_ns = time.monotonic_ns()
        entry = {"began_ns": began_ns, "opened_ns": opened_ns, "done_ns": done_ns}
        tell({"flow": number, "size": size, **entry, **counted(connection)})


def send(address, threads, seconds):
    sizes = [int(word) for word in sys.stdin.read().split()]
    until = time.monotonic() + seconds

    def work(first):
        number = first
        while time.monotonic() < until:
            send_one(address, number, sizes[number % len(sizes)])
            number += threads

    workers = [threading.Thread(target=work, args=(first,)) for first in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        send(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
