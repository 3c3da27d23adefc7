"""`hitless bench live`: how much of real traffic crosses a live switch, and how long it takes.

- network: three namespaces and the veths between them;
- devices: what forwards between them, one at a time;
- measure: packets per second, delay, loss, and TCP's throughput through a device;
- run: all of them, with progress.
"""
