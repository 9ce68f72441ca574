"""What a policy may draw before it scores an arm: one number from each of the laws that its `draws` returns.

The laws are declared and not drawn from, so that every engine can draw in its own way (the contract is in
prudent.policies.contract). Each is a tuple of two numbers, with methods that leaping asks for: how likely a number is
beyond an edge, above it where `upper` and else below, and numbers that are. There are two bounds on that probability.
To each belongs a proposal, which, made with the probability of the bound, is accepted as often as makes the law right.

`tight` is for a law that stands still. It is exact for a normal law. For a density f whose logarithm h is concave,
f(y) ≤ f(x) e^{h′(x)(y−x)}, so past the mode f(x)/|h′(x)| is a bound, and x ± E/|h′(x)|, E exponential, the proposal.

`loose` is for a law that moves. It is Chernoff's e^{−N D}, N the concentration of the law and D a divergence of its
location from the edge. It grows where the location comes nearer to the edge, and falls with N. So the nearest location
and the least concentration that there may be bound all of them. The law tilted until it lies at the edge proposes.
"""

import math
from typing import Any, NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.compile.types import helper, in_kernels, with_methods_in_kernels
from prudent.policies.tails import (
    beta_divergence,
    beta_log_density,
    gamma_divergence,
    gamma_log_density,
    normal_above,
    normal_tail,
)


class Normal(NamedTuple):
    """A normal law."""

    mean: float
    sd: float

    def draw(self, rng: Generator) -> float:
        """A number."""
        return float(self.mean + self.sd * rng.standard_normal())

    def draw_many(self, rng: Generator, count: int) -> Array:
        """So many numbers, independent of each other."""
        return self.mean + self.sd * rng.standard_normal(count)

    def place(self) -> tuple[float, float, float]:
        """Its location, its concentration, and about its standard deviation."""
        return self.mean, 1.0 / self.sd, self.sd

    def loose(self, location: float, concentration: float, edge: float, upper: bool) -> float:
        """At least the probability of numbers beyond the edge under every such law whose location is not nearer to the
        edge, and whose concentration is not smaller."""
        z = (edge - location if upper else location - edge) * concentration
        return normal_tail(z) if z > 0.0 else 1.0

    def tilted(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        """Whether a proposal, made with the probability `loose`, is accepted, and the number."""
        return True, _normal_beyond(self.mean, self.sd if upper else -self.sd, edge, rng)

    def tight(self, edge: float, upper: bool) -> float:
        """At least the probability of numbers beyond the edge, and little more."""
        return normal_tail((edge - self.mean if upper else self.mean - edge) / self.sd)

    def beyond(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        """Whether a proposal, made with the probability `tight`, is accepted, and the number."""
        return True, _normal_beyond(self.mean, self.sd if upper else -self.sd, edge, rng)


@helper
def _normal_beyond(mean: float, step: float, edge: float, rng: Generator) -> float:
    return mean + step * normal_above((edge - mean) / step, rng)


class InverseGamma(NamedTuple):
    """The law of `scale`/γ, γ ~ Gamma(shape): what is believed of a variance. It is above an edge where γ is below
    scale/edge, and γ's density is log-concave. For the methods see `Normal`."""

    shape: float
    scale: float

    def draw(self, rng: Generator) -> float:
        return float(self.scale / rng.standard_gamma(self.shape))

    def draw_many(self, rng: Generator, count: int) -> Array:
        return self.scale / rng.standard_gamma(self.shape, count)

    def place(self) -> tuple[float, float, float]:
        location = self.scale / self.shape
        return location, self.shape, location / math.sqrt(self.shape)

    def loose(self, location: float, concentration: float, edge: float, upper: bool) -> float:
        if edge <= 0.0:
            return 1.0 if upper else 0.0
        if location >= edge if upper else location <= edge:
            return 1.0
        return math.exp(-concentration * gamma_divergence(location / edge))

    def tilted(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        least = self.scale / edge
        gamma = rng.standard_gamma(self.shape) * (least / self.shape)
        if gamma >= least if upper else gamma <= least:
            return False, 0.0
        return rng.random() < math.exp((self.shape / least - 1.0) * (gamma - least)), self.scale / gamma

    def tight(self, edge: float, upper: bool) -> float:
        if edge <= 0.0:
            return 1.0 if upper else 0.0
        least = self.scale / edge
        slope = (self.shape - 1.0) / least - 1.0
        if slope <= 0.0 if upper else slope >= 0.0:
            return 1.0
        return min(1.0, math.exp(gamma_log_density(self.shape, least)) / abs(slope))

    def beyond(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        least = self.scale / edge
        step = rng.standard_exponential() / (least - (self.shape - 1.0))
        if step <= -1.0:
            return False, 0.0
        accepted = math.log(1.0 - rng.random()) < (self.shape - 1.0) * (math.log1p(step) - step)
        return accepted, self.scale / (least * (1.0 + step))


class Beta(NamedTuple):
    """A beta law with both parameters 1 or more: what is believed of a probability, and the share of one gamma variable
    in the sum of two. For the methods see `Normal`."""

    a: float
    b: float

    def draw(self, rng: Generator) -> float:
        ones = rng.standard_gamma(self.a)
        return float(ones / (ones + rng.standard_gamma(self.b)))

    def draw_many(self, rng: Generator, count: int) -> Array:
        return rng.beta(self.a, self.b, count)

    def place(self) -> tuple[float, float, float]:
        total = self.a + self.b
        return self.a / total, total, math.sqrt(self.a * self.b / (total + 1.0)) / total

    def loose(self, location: float, concentration: float, edge: float, upper: bool) -> float:
        if edge >= 1.0 if upper else edge <= 0.0:
            return 0.0
        if location >= edge if upper else location <= edge:
            return 1.0
        return math.exp(-concentration * beta_divergence(location, edge))

    def tilted(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        p = self.a / (self.a + self.b)
        one, other = rng.standard_gamma(self.a) * (edge / p), rng.standard_gamma(self.b) * ((1.0 - edge) / (1.0 - p))
        excess = edge * other - (1.0 - edge) * one
        if excess >= 0.0 if upper else excess <= 0.0:
            return False, 0.0
        return rng.random() < math.exp((edge - p) / (edge * (1.0 - edge)) * excess), one / (one + other)

    def tight(self, edge: float, upper: bool) -> float:
        if edge <= 0.0 or edge >= 1.0:
            return 1.0 if upper == (edge <= 0.0) else 0.0
        slope = (self.a - 1.0) / edge - (self.b - 1.0) / (1.0 - edge)
        if slope >= 0.0 if upper else slope <= 0.0:
            return 1.0
        return min(1.0, math.exp(beta_log_density(self.a, self.b, edge)) / abs(slope))

    def beyond(self, edge: float, upper: bool, rng: Generator) -> tuple[bool, float]:
        a, b = self.a - 1.0, self.b - 1.0
        step = rng.standard_exponential() / (b / (1.0 - edge) - a / edge)
        x, below, above = edge + step, step / edge, step / (1.0 - edge)
        if x <= 0.0 or x >= 1.0:
            return False, 0.0
        return math.log(1.0 - rng.random()) < a * (math.log1p(below) - below) + b * (math.log1p(-above) + above), x


LAWS = (Normal, InverseGamma, Beta)
with_methods_in_kernels(LAWS)


@helper
def normal(mean: float, sd: float) -> Normal:
    """N(mean, sd²)."""
    return Normal(float(mean), float(sd))


@helper
def inverse_gamma(shape: float, scale: float) -> InverseGamma:
    """The law of scale/γ, γ ~ Gamma(shape)."""
    return InverseGamma(float(shape), float(scale))


@helper
def beta(a: float, b: float) -> Beta:
    """Beta(a, b), a ≥ 1 and b ≥ 1."""
    return Beta(float(a), float(b))


def drawn(law: Any, rng: Generator) -> float:
    """One number from a law."""
    return float(law.draw(rng))


@in_kernels(drawn, inline=True)
def _drawn(law: Any, rng: Generator) -> Any:
    return law.instance_class.draw


def all_drawn(laws: Any, rng: Generator) -> tuple[float, ...]:
    """One number from each of at most two laws, in their order."""
    return tuple(drawn(law, rng) for law in laws)


@in_kernels(all_drawn, inline=True)
def _all_drawn(laws: Any, rng: Generator) -> Any:
    if len(laws) == 1:
        return lambda laws, rng: (drawn(laws[0], rng),)
    return lambda laws, rng: (drawn(laws[0], rng), drawn(laws[1], rng))
