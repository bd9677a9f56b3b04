"""Two small instances whose optima are worked out by hand.

The tests are no package (--import-mode=importlib), so what they share is loaded by its path.
"""

import importlib.util
import sys
from pathlib import Path

import pytest


def _load(name: str) -> None:
    spec = importlib.util.spec_from_file_location(f"rcpsp_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"rcpsp_{name}"] = module
    spec.loader.exec_module(module)


_load("projects")

# Jobs 2 to 5 of the file (1 to 4 without supersource and sink): durations 3, 2, 2, 1; of R1, 3 in all, they
# take 2, 2, 1, 2, and of R2, 1 in all, the last two take 1; job 2 comes before job 5. Two jobs that take 2 of
# R1 don't fit together, so that jobs 2, 3 and 5 run one after another: no makespan is below 3 + 2 + 1 = 6.
# Starts 0, 4, 0, 3 reach 6. The critical path is 3 + 1 = 4, the area of R1 (6 + 4 + 2 + 2) / 3, rounded up 5.
DISJOINT_SM = """\
************************************************************************
file with basedata            : disjoint
initial value random generator: 1
************************************************************************
projects                      :  1
jobs (incl. supersource/sink ):  6
horizon                       :  8
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  0   N
  - doubly constrained        :  0   D
************************************************************************
PROJECT INFORMATION:
pronr.  #jobs rel.date duedate tardcost  MPM-Time
    1      4      0        8        0        4
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          3           2   3   4
   2        1          1           5
   3        1          1           6
   4        1          1           6
   5        1          1           6
   6        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     3       2    0
  3      1     2       2    0
  4      1     2       1    1
  5      1     1       2    1
  6      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  R 2
    3    1
************************************************************************
"""

DISJOINT_DZN = """\
n_res = 2;
rc = [ 3, 1 ];
n_tasks = 4;
d = [ 3, 2, 2, 1 ];
rr = [| 2, 2, 1, 2
      | 0, 0, 1, 1 |];
suc = [ { 4 },
        {  },
        {  },
        {  } ];
"""

# One resource of 2; durations 1, 4, 4, 3 take 1, 2, 1, 1; job 1 before job 4. The area is 1 + 8 + 4 + 3 = 16,
# so no makespan is below 16 / 2 = 8. Starts 0, 4, 0, 1 reach it: job 3 beside 1 and 4, then job 2. In the
# order of their numbers job 2 starts at 1, and jobs 3 and 4 at 5: makespan 9.
AREA_DZN = """\
% an instance by hand
n_res = 1; rc = [2];
n_tasks = 4;
d = [1, 4, 4, 3];
rr = [| 1, 2, 1, 1 |];
suc = [{4}, {}, {}, {}];
"""


@pytest.fixture
def disjoint(tmp_path: Path) -> Path:
    path = tmp_path / "disjoint.sm"
    path.write_text(DISJOINT_SM)
    return path


@pytest.fixture
def disjoint_dzn(tmp_path: Path) -> Path:
    path = tmp_path / "disjoint.dzn"
    path.write_text(DISJOINT_DZN)
    return path


@pytest.fixture
def area(tmp_path: Path) -> Path:
    path = tmp_path / "area.dzn"
    path.write_text(AREA_DZN)
    return path
