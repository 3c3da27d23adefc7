"""`hitless switch` and `hitless link`: a scenario's fabric on the interfaces of a real machine.

- `hitless.switch.configuration`: the file of `hitless switch`
- `hitless.live.ports`: borrowed interfaces, restored afterwards
- `hitless.switch.changes`: changes of a scenario that a running switch accepts
- `hitless.switch.service`: the process
- `hitless.switch.control`, `hitless.switch.status`: its control socket, and the status document
- `hitless.switch.metrics`: metrics for Prometheus
- `hitless.switch.link_file`: the file of `hitless link` as a service
- `hitless.switch.link`: LinkGuardian between two machines, as a scenario of two switches, one of them remote
"""
