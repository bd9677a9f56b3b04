"""The image store, worked by hand and against a store looked through at every tick."""

import pytest
from admission_cases import STORES, schedules, store_per_tick, workloads
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.images import StoreUse, User, store_use
from scheduling_core.admission.schedule import NOTHING_KEPT, ImageStore

FOREVER = None


def test_nobody_uses_nothing() -> None:
    assert store_use([], NOTHING_KEPT) == StoreUse(0, 0, 0)


@pytest.mark.parametrize(
    ("users", "store", "expected"),
    [
        # Two users of one image in [0, 15): it counts once, 15 x 4.
        ([(0, 10, "a", 4), (5, 15, "a", 4)], NOTHING_KEPT, StoreUse(4, 60, 1)),
        # The first ends when the second starts: ends come first, so it is loaded again.
        ([(0, 10, "a", 4), (10, 15, "a", 4)], NOTHING_KEPT, StoreUse(4, 60, 2)),
        # A gap of 2, kept for 5: there all the time, loaded once.
        ([(0, 10, "a", 4), (12, 20, "a", 4)], ImageStore(5), StoreUse(4, 80, 1)),
        # A gap of 5, kept for 5: it goes in the tick in which it is wanted, and is loaded again.
        ([(0, 10, "a", 4), (15, 20, "a", 4)], ImageStore(5), StoreUse(4, 80, 2)),
        # A gap of 6, kept for 5: absent for 1 tick.
        ([(0, 10, "a", 4), (16, 20, "a", 4)], ImageStore(5), StoreUse(4, 76, 2)),
        # a in [0, 4) and kept to 7, b in [0, 10) and not kept after the last end: 7 x 4 + 10 x 1.
        ([(0, 4, "a", 4), (0, 10, "b", 1)], ImageStore(3), StoreUse(5, 38, 2)),
        # The same, kept for ever: to the last end, 10 x 4 + 10 x 1.
        ([(0, 4, "a", 4), (0, 10, "b", 1)], ImageStore(FOREVER), StoreUse(5, 50, 2)),
        # Used again in between, it is kept from its last use on: [0, 2), kept; [3, 4), kept to 7.
        ([(0, 2, "a", 4), (3, 4, "a", 4), (0, 9, "b", 1)], ImageStore(3), StoreUse(5, 37, 2)),
        # 8 fit. At 6, c drives out a (last used at 2), not b (at 4); at 8, a drives out b, not c (at 8):
        # 2 x 4 + 4 x 8 + 2 x 8 + 2 x 8.
        (
            [(0, 2, "a", 4), (2, 4, "b", 4), (6, 8, "c", 4), (8, 10, "a", 4)],
            ImageStore(FOREVER, 8),
            StoreUse(8, 72, 4),
        ),
        # The same, but a is used again in [4, 5): now c drives out b, and a is found at 8: 3 loads.
        (
            [(0, 2, "a", 4), (2, 4, "b", 4), (4, 5, "a", 4), (6, 8, "c", 4), (8, 10, "a", 4)],
            ImageStore(FOREVER, 8),
            StoreUse(8, 72, 3),
        ),
        # Live images never give way, though only 8 fit; a goes when its user has ended: 5 x 12 + 5 x 8.
        ([(0, 5, "a", 4), (0, 10, "b", 4), (0, 10, "c", 4)], ImageStore(FOREVER, 8), StoreUse(12, 100, 3)),
        # At 5, both a is used again and z is loaded: a is in use, so b gives way, although it was used later.
        (
            [(0, 2, "a", 4), (2, 3, "b", 4), (5, 6, "a", 4), (5, 6, "Z", 4)],
            ImageStore(FOREVER, 8),
            StoreUse(8, 2 * 4 + 4 * 8, 3),
        ),
        # At 2, b (1) fits beside a (4), with c (4) it doesn't: a + b were never there together for a tick.
        (
            [(0, 1, "a", 4), (2, 3, "b", 1), (2, 3, "c", 2)],
            ImageStore(FOREVER, 5),
            StoreUse(4, 2 * 4 + 3, 3),
        ),
    ],
)
def test_by_hand(users: list[User], store: ImageStore, expected: StoreUse) -> None:
    assert store_use(users, store) == expected


@given(st.data(), STORES)
def test_it_is_the_store_looked_through_at_every_tick(data: st.DataObject, store: ImageStore) -> None:
    users = drawn_users(data)
    found = store_use(users, store)
    assert (found.peak_kib, found.kib_ticks, found.loads) == store_per_tick(users, store)


@given(st.data())
def test_a_cache_of_nothing_keeps_nothing(data: st.DataObject) -> None:
    users = [user for user in drawn_users(data) if user[3]]
    assert store_use(users, ImageStore(FOREVER, 0)) == store_use(users, NOTHING_KEPT)


@given(st.data())
def test_a_store_without_end_loads_each_image_once(data: st.DataObject) -> None:
    users = drawn_users(data)
    assert store_use(users, ImageStore(FOREVER)).loads == len({image for _, _, image, _ in users})


@given(st.data(), STORES)
def test_the_order_of_users_and_their_names_decide_nothing(data: st.DataObject, store: ImageStore) -> None:
    """Renamed so that the order of names turns round; last uses made distinct, for equal ones go by name."""
    users = [
        (start, 100 * end + number, image, size)
        for number, (start, end, image, size) in enumerate(
            (100 * start, end, image, size) for start, end, image, size in drawn_users(data)
        )
    ]
    renamed = [
        (s, e, str(9 - int(image[1:])), size) for s, e, image, size in data.draw(st.permutations(users))
    ]
    assert store_use(users, store) == store_use(renamed, store)


def drawn_users(data: st.DataObject) -> list[User]:
    of = data.draw(workloads(most=8))
    starts = data.draw(schedules(of)).starts
    return [(s, s + a.ticks, a.image, a.image_kib) for a, s in zip(of.attempts, starts, strict=True)]
