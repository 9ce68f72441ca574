"""Policies, one file each. `base` holds their contract, `binding` makes them ready, `helpers` is what they share."""

from prudent.policies.base import UNSET as UNSET
from prudent.policies.base import Arm as Arm
from prudent.policies.base import Arms as Arms
from prudent.policies.base import Policy as Policy
from prudent.policies.base import Setting as Setting
from prudent.policies.base import policies as policies
from prudent.policies.base import spec as spec
from prudent.policies.base import strategies as strategies
