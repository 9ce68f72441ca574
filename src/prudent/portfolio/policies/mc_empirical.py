"""MC-Empirical: the best mix for what was seen, with full information."""

from dataclasses import dataclass

from prudent.portfolio.policies.base import Brief, Joint, Learner, Play, portfolio_policies


@portfolio_policies.add("mc-empirical")
@dataclass(frozen=True)
class MCEmpirical(Learner):
    """Follow the empirical optimum (MC-Empirical of [Du21], full information).

    Two rounds of the even mix come first, 10 + 2K where short selling makes a singular estimate useless. Differs from
    the paper in solving again only as rounds grow, see `base`.
    """

    growth: float = 0.05

    feedback = "full"

    def play(self, brief: Brief) -> Play:
        seen, mix = Joint(brief.arms), brief.even()
        rounds = 10 + 2 * brief.arms if brief.short else 2
        while True:
            seen.add((yield mix, rounds).block)
            mix = brief.best(seen.mean, seen.covariance, positive=True)
            rounds = max(1, int(self.growth * seen.rounds))
