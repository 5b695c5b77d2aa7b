"""A statement of the argument as a number that the model can compute."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from vringlab import Scenario


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """The statement holds where the measured value lies from `at_least` to `at_most`."""

    id: str
    """The claim's letter, a dot, and what is asked."""
    who: str
    """author or reviewer; both: neither disputes it."""
    statement: str
    scenarios: tuple[Scenario, ...]
    """None where it can't be decided yet."""
    quantity: str = ""
    unit: str = ""
    measure: Callable[..., float] = lambda: math.nan
    """The value, from the results of the scenarios in their order."""
    at_least: float = -math.inf
    at_most: float = math.inf
    fixed: bool = False
    """The value doesn't depend on any cost."""
    open: str = ""
    """Why it can't be decided yet."""

    @property
    def claim(self) -> str:
        return self.id[0]

    def margin(self, value: float) -> float:
        """How far the value is inside the range where the statement holds; below 0 outside."""
        return min(value - self.at_least, self.at_most - value)

    def condition(self) -> str:
        """The range where the statement holds, in words."""
        if math.isinf(self.at_most):
            return f"at least {self.at_least:g} {self.unit}"
        if math.isinf(self.at_least):
            return f"at most {self.at_most:g} {self.unit}"
        return f"{self.at_least:g} to {self.at_most:g} {self.unit}"
