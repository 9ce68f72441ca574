"""Risk measures: what is good. Every one is a cost: smaller is better.

base.py            the contract of a risk measure
distortion.py      measures that distort the distribution function: they weigh rewards by rank, the worst most
entropic.py        entropic risk, and the entropic value at risk
mean_variance.py   mean-variance, the measure of the paper
mixtures.py        the best mixture of arms, drawn at random with fixed weights
monotone.py        which measures only fall as rewards rise
sharpe.py          the Sharpe ratio as a cost
shortfall.py       utility-based shortfall, and the expectile, which is one too
tails.py           value at risk, conditional value at risk, and mixed with mean and variance
utility.py         expected utility, semivariance, which is one too, and the value of cumulative prospect theory
"""

from prudent.risk.base import Interval as Interval
from prudent.risk.base import RiskMeasure as RiskMeasure
from prudent.risk.base import risks as risks
