"""One allocation problem: jobs with measured rates, GPU types with counts, entities with weights.

Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
Workloads", OSDI 2020: section 3 (allocations and effective throughput), 4.1 (max-min fairness
over rates normalised by an equal share of time) and 4.3 (hierarchical policies, water filling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scheduling_core.errors import SchedulingError

Floats = NDArray[np.float64]
Reals = NDArray[np.floating[Any]]  # of whatever precision
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

Split = Literal["fairness", "fifo"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Jobs i = 0..m-1 share GPU types j = 0..n-1.

    An allocation is a matrix x (m, n): x[i, j] is the fraction of time that job i holds GPUs of
    type j.  It is feasible when x >= 0, ``sum_i workers[i] x[i, j] <= capacity[j]`` and
    ``sum_j x[i, j] <= 1``.

    Parameters
    ----------
    rates : (m, n) steps per second of job i on type j; 0 where it can't run.
    capacity : (n,) number of GPUs of each type.
    workers : (m,) GPUs that job i holds at once.
    entity : (m,) index of the entity (a team, say) that owns job i.
    entity_weights : (number of entities,) weight of each entity.
    job_weights : (m,) weight of job i within its entity ("fairness" only).
    split : how an entity divides its weight among its live jobs: "fairness" in proportion to
        ``job_weights``, "fifo" all of it to the first.

    Raises
    ------
    SchedulingError : if a shape or a value makes no sense.
    """

    rates: Floats
    capacity: Floats
    workers: Floats
    entity: Integers
    entity_weights: Floats
    job_weights: Floats
    split: Split = "fairness"

    def __post_init__(self) -> None:
        for name in ("rates", "capacity", "workers", "entity_weights", "job_weights"):
            object.__setattr__(self, name, _floats(name, getattr(self, name)))
        object.__setattr__(self, "entity", _integers("entity", self.entity))
        self._check_shapes()
        self._check_values()

    def _check_shapes(self) -> None:
        if self.rates.ndim != 2 or 0 in self.rates.shape:
            raise SchedulingError(
                f"rates has shape {self.rates.shape}, expected a non-empty matrix of jobs by types."
            )
        m, n = self.rates.shape
        expected = {"capacity": n, "workers": m, "entity": m, "job_weights": m}
        for name, length in expected.items():
            shape = getattr(self, name).shape
            if shape != (length,):
                raise SchedulingError(f"{name} has shape {shape}, expected ({length},).")
        if self.entity_weights.ndim != 1 or len(self.entity_weights) == 0:
            raise SchedulingError(
                f"entity_weights has shape {self.entity_weights.shape}, expected a non-empty list."
            )

    def _check_values(self) -> None:
        if (self.rates < 0).any():
            i, j = np.argwhere(self.rates < 0)[0]
            raise SchedulingError(
                f"The rate of job {i} on type {j} is {self.rates[i, j]}, expected 0 or more."
            )
        idle = np.flatnonzero(~(self.rates > 0).any(axis=1))
        if len(idle):
            raise SchedulingError(
                f"Job {idle[0]} has rate 0 on every type, expected at least one rate above 0."
            )
        for name in ("capacity", "workers", "entity_weights", "job_weights"):
            values = getattr(self, name)
            wrong = np.flatnonzero(values <= 0)
            if len(wrong):
                raise SchedulingError(f"{name}[{wrong[0]}] is {values[wrong[0]]}, expected a number above 0.")
        stray = np.flatnonzero((self.entity < 0) | (self.entity >= len(self.entity_weights)))
        if len(stray):
            raise SchedulingError(
                f"Job {stray[0]} belongs to entity {self.entity[stray[0]]}, "
                f"expected 0 to {len(self.entity_weights) - 1}."
            )
        if self.split not in get_args(Split):
            raise SchedulingError(f"split is {self.split!r}, expected 'fairness' or 'fifo'.")

    @classmethod
    def of(
        cls,
        rates: ArrayLike,
        capacity: ArrayLike,
        *,
        workers: ArrayLike | None = None,
        entity: ArrayLike | None = None,
        entity_weights: ArrayLike | None = None,
        job_weights: ArrayLike | None = None,
        split: Split = "fairness",
    ) -> Problem:
        """A problem with the obvious defaults: one GPU a job, one entity, all weights 1."""
        table = _floats("rates", rates)
        m = len(table) if table.ndim else 0
        owner = _integers("entity", np.zeros(m, int) if entity is None else entity)
        count = int(owner.max()) + 1 if owner.size else 1
        return cls(
            rates=table,
            capacity=_floats("capacity", capacity),
            workers=_floats("workers", np.ones(m) if workers is None else workers),
            entity=owner,
            entity_weights=_floats(
                "entity_weights", np.ones(count) if entity_weights is None else entity_weights
            ),
            job_weights=_floats("job_weights", np.ones(m) if job_weights is None else job_weights),
            split=split,
        )

    @property
    def jobs(self) -> int:
        """Number of jobs m."""
        return len(self.rates)

    @property
    def types(self) -> int:
        """Number of GPU types n."""
        return len(self.capacity)

    @cached_property
    def normalised(self) -> Floats:
        """a (m, n): rates divided by the job's rate under an equal share of time on every GPU.

        a_ij = T_ij / (sum_j T_ij K_j / sum_j K_j), so that 1 means "as fast as a job that spends
        its time evenly on the cluster's GPUs".
        """
        equal_share = self.rates @ self.capacity / self.capacity.sum()
        return np.asarray(self.rates / equal_share[:, None], dtype=np.float64)

    def progress(self, x: Floats) -> Floats:
        """f_i(x) = sum_j a_ij x_ij, shape (m,): the normalised effective throughput of each job."""
        return np.asarray((self.normalised * x).sum(axis=1), dtype=np.float64)

    def weights(self, saturated: Mask) -> Floats:
        """w (m,): weight with which each job fills now; 0 for one that is saturated or waiting.

        A saturated job's share goes to the live jobs of its own entity; an entity without live
        jobs drops out.
        """
        w = np.zeros(self.jobs)
        live = ~saturated
        if self.split == "fifo":
            owners, position = np.unique(self.entity[live], return_index=True)
            w[np.flatnonzero(live)[position]] = self.entity_weights[owners]
            return w
        within = np.bincount(self.entity[live], self.job_weights[live], minlength=len(self.entity_weights))
        owner = self.entity[live]
        w[live] = self.entity_weights[owner] * self.job_weights[live] / within[owner]
        return w

    def subset(self, jobs: Sequence[int] | Integers) -> Problem:
        """The same cluster and entities with these jobs only (indices, in the given order)."""
        chosen = np.asarray(jobs, dtype=np.int64)
        return replace(
            self,
            rates=self.rates[chosen],
            workers=self.workers[chosen],
            entity=self.entity[chosen],
            job_weights=self.job_weights[chosen],
        )


def agnostic(problem: Problem) -> Problem:
    """The problem as a policy sees it that knows nothing of GPU types: every rate is 1."""
    return replace(problem, rates=np.ones_like(problem.rates))


def _floats(name: str, values: ArrayLike) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchedulingError(f"{name} holds something else than numbers.") from None
    if not np.isfinite(array).all():
        raise SchedulingError(f"{name} holds NaN or infinity, expected finite numbers.")
    array.flags.writeable = False
    return array


def _integers(name: str, values: ArrayLike) -> Integers:
    array = _floats(name, values)
    if (array != np.rint(array)).any():
        raise SchedulingError(f"{name} holds a fraction, expected whole numbers.")
    whole = array.astype(np.int64)
    whole.flags.writeable = False
    return whole
