"""Time until Linux retransmits a lone lost segment: messages of 100 bytes; then the path drops one."""

import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

if sys.argv[1] == "server":
    with socket.create_server(("10.99.0.2", 5001)) as listener:
        connection, _ = listener.accept()
        while data := connection.recv(1000):
            pass
    sys.exit()

TCP_INFO = struct.Struct("=8B24I")
connection = socket.create_connection(("10.99.0.2", 5001))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
for _ in range(50):
    connection.send(bytes(100))
    time.sleep(0.1)
info = TCP_INFO.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size))
print(f"rto_us {info[8]} srtt_us {info[8 + 15]} rttvar_us {info[8 + 16]}")
shown = subprocess.run(["ss", "-tin", "dst", "10.99.0.2"], capture_output=True, text=True, check=True).stdout
print(shown.splitlines()[-1].strip())
hole = Path(sys.argv[2])
hole.touch()
start = time.monotonic()
connection.send(bytes(100))
seen = 0
while (now := time.monotonic() - start) < 4:
    info = TCP_INFO.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size))
    total = info[8 + 23]  # tcpi_total_retrans
    if total != seen:
        seen = total
        print(f"sent again {seen} at {now * 1e3:.1f} ms, rto {info[8] / 1e3:.0f} ms, backoff {info[4]}")
    time.sleep(0.0005)
hole.unlink()
