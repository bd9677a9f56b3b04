"""Random works that both formats can express exactly."""

from hypothesis import strategies as st

from schema.work import Abstract, Author, Identifier, Work

# Letters of many scripts without characters that TeX, HTML or NFC would change.
LETTERS = "abcdefgxyzABCXYZéüßøłçñőŠžДжעשعمλπ中文0123456789"
words = st.text(LETTERS, min_size=1, max_size=9).filter(lambda w: w.lower() not in ("and", "others"))
phrases = st.lists(words, min_size=1, max_size=6).map(" ".join)
names = st.lists(words, min_size=1, max_size=3).map(lambda parts: Author(name=" ".join(parts)))
dois = st.from_regex(r"10\.[0-9]{4}/[a-z0-9][a-z0-9._()<>;:-]{0,12}[a-z0-9]", fullmatch=True).map(
    lambda v: Identifier(scheme="doi", value=v)
)
arxivs = st.builds(
    lambda year, month, number, version: Identifier(
        scheme="arxiv", value=f"{year:02}{month:02}.{number:05}", version=version
    ),
    st.integers(7, 30), st.integers(1, 12), st.integers(0, 99999), st.sampled_from([None, "v1", "v12"]),
)  # fmt: skip
urls = st.from_regex(r"https://[a-z]{1,8}\.org/[~A-Za-z0-9_/-]{0,12}[a-z0-9]", fullmatch=True).map(
    lambda v: Identifier(scheme="url", value=v)
)
works = st.builds(
    Work,
    title=phrases,
    authors=st.lists(names, max_size=4).map(tuple),
    year=st.none() | st.integers(1000, 2999),
    venue=st.none() | phrases,
    abstract=st.just(Abstract()) | phrases.map(lambda t: Abstract(text=t)),
    identifiers=st.tuples(dois, urls) | st.tuples(arxivs) | st.just(()),
)
