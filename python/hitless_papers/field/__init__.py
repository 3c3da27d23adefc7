"""The transports of today's AI fabrics: Ultra Ethernet, MRC, RoCE and TCP on sprayed packets."""
