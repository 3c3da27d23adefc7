#!/bin/bash
# Linux's TCP over path.c, in two network namespaces of its own. As root: kernel.sh RATE_MBPS DELAY_US LIMIT LOSS CONGESTION SECONDS
# With LOSS = "blackhole": one warmed connection, then one segment into nothing; prints `ss -ti` as the timers run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
a=hvp$$a b=hvp$$b work=$(mktemp -d)
server= path=
cleanup() { for id in $path $server; do kill "$id" 2>/dev/null || true; done; wait 2>/dev/null; ip netns del $a; ip netns del $b; rm -rf "$work"; }
cc -O2 "$here/path.c" -o "$work/path"
ip netns add $a; ip netns add $b

trap cleanup EXIT
loss=$4; [ "$loss" = blackhole ] && loss=0
"$work/path" $a $b "$1" "$2" "$3" "$loss" 1 "$work/hole" >"$work/out" 2>&1 & path=$!
until grep -qs ready "$work/out"; do sleep 0.05; done
for side in "$a 10.99.0.1" "$b 10.99.0.2"; do
    ns=${side% *} address=${side#* }
    ip netns exec $ns ip link set lo up
    ip netns exec $ns ip link set path up mtu 1500 txqueuelen 10000
    ip netns exec $ns ip address add "$address/24" dev path
    ip netns exec $ns sysctl -qw net.ipv6.conf.path.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1 || true
    ip netns exec $ns sysctl -qw "net.ipv4.tcp_rmem=4096 16777216 33554432" "net.ipv4.tcp_wmem=4096 4194304 4194304"
done
if [ "$4" = blackhole ]; then
    ip netns exec $b python3 "$here/blackhole.py" server & server=$!
    sleep 0.3
    ip netns exec $a python3 "$here/blackhole.py" client "$work/hole" "$5"
else
    ip netns exec $b iperf3 -s -1 >/dev/null & server=$!
    sleep 0.3
    ip netns exec $a iperf3 -c 10.99.0.2 -t "$6" -C "$5" -J >"$work/iperf.json"
    python3 - "$work/iperf.json" <<'P'
import json, sys
end = json.load(open(sys.argv[1]))["end"]
print(f"goodput {end['sum_received']['bits_per_second'] / 1e6:.3f} Mb/s retransmits {end['sum_sent']['retransmits']}"
      f" rtt_us {end['streams'][0]['sender']['mean_rtt']} {end['sender_tcp_congestion']}")
P
    kill $path; wait $path 2>/dev/null || true; tail -1 "$work/out"; path=
fi
