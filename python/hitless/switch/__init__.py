"""`hitless switch` and `hitless link`: a scenario's fabric on the interfaces of a real box.

- `hitless.switch.configuration`: the file of `hitless switch`
- `hitless.live.ports`: interfaces that belong to somebody else, and are given back as they were
- `hitless.switch.changes`: what of a scenario can change while the switch runs
- `hitless.switch.service`: the process
- `hitless.switch.metrics`: what Prometheus may see
- `hitless.switch.link_file`: the file of `hitless link`, where it runs as a service
- `hitless.switch.link`: LinkGuardian between two boxes, as a scenario of two switches of which one is elsewhere
"""
