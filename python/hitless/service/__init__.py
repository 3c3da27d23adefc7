"""Common parts of all services of hitless.

- `hitless.service.configuration`: a TOML file read in one place, every error with line, field, rule and hint
- `hitless.service.control`: the protocol of a control socket
- `hitless.service.metrics`: a loopback port for Prometheus
- `hitless.service.process`: signals, and notifications for systemd
- `hitless.service.running`: the running `hitless link` and `hitless switch`, and requests to them
"""
