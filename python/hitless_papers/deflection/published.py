"""The numbers that the authors print: the expected output of the small run in the README of their simulator.

Seconds, at 55, 65, 75, 85 and 95 % of load: 50 % of background, the rest queries.
"""

from hitless_papers.deflection import schemes

LOADS = (55, 65, 75, 85, 95)

MEAN_S = {
    schemes.ECMP.name: (0.0307, 0.0343, 0.0416, 0.0507, 0.0692),
    schemes.DIBS.name: (0.0109, 0.0217, 0.0345, 0.0530, 0.0918),
    schemes.SIMPLE.name: (0.0115, 0.0219, 0.0354, 0.0532, 0.0914),
    schemes.VERTIGO.name: (0.0153, 0.0175, 0.0183, 0.0200, 0.0248),
    schemes.QUANTILE.name: (0.0170, 0.0233, 0.0303, 0.0385, 0.0523),
    schemes.DISTRIBUTION.name: (0.0175, 0.0232, 0.0309, 0.0405, 0.0554),
}
P99_S = {
    schemes.ECMP.name: (0.0720, 0.0751, 0.0971, 0.1006, 0.1820),
    schemes.DIBS.name: (0.0210, 0.0496, 0.0813, 0.1135, 0.3175),
    schemes.SIMPLE.name: (0.0243, 0.0466, 0.0864, 0.1106, 0.3299),
    schemes.VERTIGO.name: (0.0216, 0.0244, 0.0258, 0.0388, 0.0486),
    schemes.QUANTILE.name: (0.0280, 0.0421, 0.0567, 0.0806, 0.0981),
    schemes.DISTRIBUTION.name: (0.0267, 0.0412, 0.0533, 0.0817, 0.1052),
}
