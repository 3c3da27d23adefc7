"""What every process of hitless that runs until it is told to stop needs.

- `hitless.service.configuration`: a TOML file read in one place, every error with line, field, rule and hint
- `hitless.service.metrics`: a loopback port for Prometheus
- `hitless.service.process`: signals, and what systemd is told
"""
