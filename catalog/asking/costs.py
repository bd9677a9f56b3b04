"""What answers cost, in the unit of the prices given: exact decimals."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost: those that a model reads, and those that it writes."""

    per_million_input: Decimal
    per_million_output: Decimal

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> str | None:
        """The cost as a plain decimal; None where the provider didn't say what was used."""
        if input_tokens is None or output_tokens is None:
            return None
        spent = input_tokens * self.per_million_input + output_tokens * self.per_million_output
        return format((spent / MILLION).normalize(), "f")


def total(costs: Iterable[str | None]) -> str | None:
    """The sum of the costs that are known; None where none is."""
    known = [Decimal(cost) for cost in costs if cost is not None]
    return format(sum(known, Decimal(0)).normalize(), "f") if known else None
