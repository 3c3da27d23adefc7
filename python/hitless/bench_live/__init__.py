"""`hitless bench live`: throughput and delay of real traffic through a live switch.

- network: three namespaces and the veths between them;
- devices: the forwarders between them, one at a time;
- measure: packets per second, delay, loss, and TCP's throughput through a device;
- run: all of them, with progress.
"""
