"""hitless: datacenter mechanisms that hide failures, simulated packet by packet.

The layers, each importing only what stands above it:

- ``_native``    the simulator, in Rust: a scenario's text in, tables out
- ``simulation`` one run of it, with typed results
- ``analysis``   percentiles and confidence intervals
- ``plot``       descriptions of plots, free of any drawing library
- ``exhibits``   figures and tables of papers: what to run, and how to judge it beside the paper
- ``report``     the HTML page
- ``results``    the folder that a run leaves behind
- ``bench``      the speed of the engine
- ``cli``        the command line

Nothing is imported here, so that ``from hitless import _native`` costs nothing else.
"""
