"""The exhibits of AFQ (Sharma, Liu, Atreya, Krishnamurthy, NSDI 2018).

- ``schemes``: transports and disciplines that are compared, and the one set of parameters that serves all exhibits
- ``sizes``: the two workloads, and how often flows start for a load; ``flows``, ``ratios``: completion times
- ``cluster``: the simulated leaf-spine; ``load_sweep``: figures 8 and 9; ``buffers``: figure 10; ``by_size``: figure
  15; ``parameters``: figure 17; ``schedulers``: section 4
- ``incast``: figure 11; ``incast_buffer``: figure 12; ``one_link``: figures 14 and 16; ``prototype``: the hardware
  testbed, figure 7
- ``causes``: experiments on rows that differ; ``beyond``: experiments beyond the paper
"""
