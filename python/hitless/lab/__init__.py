"""`hitless lab`: the hosts of a scenario as network namespaces, joined by its fabric in real time.

From the scenario to the running lab, in the order of use:

- `hitless.lab.plan`: hosts, addresses and names of everything that will exist
- `hitless.lab.scope`: which parts of a scenario a lab takes, and which it leaves out
- `hitless.lab.tuning`: what the kernels of the hosts are set to, from the scenario's transports
- `hitless.lab.registry`: which labs there are, whose process lives, and who may start one
- `hitless.lab.kernel`, `hitless.lab.network`: namespaces, veths and settings, made and removed
- `hitless.lab.control`: the socket on which a lab is asked and told
- `hitless.lab.process`: the process of a lab, from its start to its clean end
- `hitless.lab.client`: what other processes do with a lab
- `hitless.lab.traffic`, `hitless.lab.programs`: programs that send and receive in its hosts, and count
"""
