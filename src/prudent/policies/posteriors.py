"""What a policy may draw before it scores an arm: one number from each of the laws that its `draws` returns.

The laws are declared and not drawn from, so that every engine can draw in its own way (the contract is in
prudent.policies.base). Each is a tuple of two numbers.
"""

from typing import Any, NamedTuple

from prudent.compiled import helper, in_kernels


class Normal(NamedTuple):
    """A normal law."""

    mean: float
    sd: float

    def draw(self, rng: Any) -> float:
        return float(self.mean + self.sd * rng.standard_normal())


class InverseGamma(NamedTuple):
    """The law of `scale`/γ, γ ~ Gamma(shape): what is believed of a variance."""

    shape: float
    scale: float

    def draw(self, rng: Any) -> float:
        return float(self.scale / rng.standard_gamma(self.shape))


class Beta(NamedTuple):
    """A beta law with both parameters 1 or more: what is believed of a probability."""

    a: float
    b: float

    def draw(self, rng: Any) -> float:
        ones = rng.standard_gamma(self.a)
        return float(ones / (ones + rng.standard_gamma(self.b)))


LAWS = (Normal, InverseGamma, Beta)


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


def drawn(law: Any, rng: Any) -> float:
    """One number from a law."""
    return float(law.draw(rng))


@in_kernels(drawn, inline=True)
def _drawn(law: Any, rng: Any) -> Any:
    return law.instance_class.draw


def all_drawn(laws: Any, rng: Any) -> tuple[float, ...]:
    """One number from each of at most two laws, in their order."""
    return tuple(drawn(law, rng) for law in laws)


@in_kernels(all_drawn, inline=True)
def _all_drawn(laws: Any, rng: Any) -> Any:
    if len(laws) == 1:
        return lambda laws, rng: (drawn(laws[0], rng),)
    return lambda laws, rng: (drawn(laws[0], rng), drawn(laws[1], rng))
