"""The greedy scan: walk an ordered line of gangs, serve each that fits, skip or stop at what doesn't."""

from __future__ import annotations

from scheduling_core.compiled import kernel


@kernel
def scan(line, gpus, free, blocking, served):
    """Fill served[i] with 1 where line[i] gets its GPUs, else 0; returns what stays free.

    line (m,) job numbers; gpus (n,) by job number; blocking: stop at the first that doesn't fit.
    """
    for place in range(len(line)):
        need = gpus[line[place]]
        if need <= free:
            served[place] = 1
            free -= need
        else:
            served[place] = 0
            if blocking:
                for rest in range(place + 1, len(line)):
                    served[rest] = 0
                return free
    return free
