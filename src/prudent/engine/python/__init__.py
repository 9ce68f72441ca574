"""Simulations of environments and learners that are plain Python, interpreted.

arm.py            what an agent keeps of an arm, and whether it can be so
choosing.py       which arm to pull: the policy, interpreted, on what is known of the arms
delays.py         how late a reward is seen: by a number of rounds, by a law, or by a function of the reward
drifting.py       an environment whose arms drift by a plan, and which knows their costs in every round
environments.py   environments: what a policy may play on besides a `Bandit`
gym.py            a bandit as a Gymnasium environment, for agents of other libraries (the extra `gym`)
memory.py         what is remembered of the arms where a policy forgets, interpreted
policies.py       a policy that is made a learner by the choice that an `Agent` makes
propensities.py   with which probability each arm is taken: the policy's own probabilities, mixed with floors and caps
rounds.py         one run of a learner on an environment, round by round
simulation.py     many runs on an environment, or of a learner, interpreted: here
"""
