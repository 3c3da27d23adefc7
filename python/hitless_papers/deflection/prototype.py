"""Figure 5: the two experiments in the testbed."""

from hitless_papers import Parts, exhibit
from hitless_papers.deflection.bursts import Bursts
from hitless_papers.deflection.response_times import ResponseTimes


@exhibit("pd/fig5", title="Testbed: response times beside bulk flows, and UDP bursts that arrive")
class Figure5(Parts):
    """Section 5.1."""

    parts = (ResponseTimes, Bursts)
