"""`hitless lab`: the hosts of a scenario as network namespaces, joined by its fabric in real time.

From the scenario to the running lab, in the order of use:

- `hitless.lab.plan`: hosts, addresses and names of everything that will exist
- `hitless.lab.scope`: the parts of a scenario that a lab uses, and those that it ignores
- `hitless.lab.tuning`: kernel settings of the hosts, from the scenario's transports
- `hitless.lab.registry`: all labs, the state of their processes, and locks on their names
- `hitless.lab.kernel`, `hitless.lab.network`: namespaces, veths and settings, made and removed
- `hitless.lab.control`: the control socket of a lab
- `hitless.lab.process`: the process of a lab, from its start to its clean end
- `hitless.lab.client`: access to a lab from other processes
- `hitless.lab.traffic`, `hitless.lab.programs`: programs that send, receive and count in its hosts
"""
