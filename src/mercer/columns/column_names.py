"""What the name of a column says: an identifier, a place in time, or nothing."""

from __future__ import annotations

import re

__all__ = ["says_identifier", "says_someone", "says_ticket", "says_time"]

_IDENTIFIERS = frozenset(
    {"id", "ids", "uuid", "guid", "uid", "pk", "index", "idx", "row", "rowid", "rownames", "unnamed", "key", "code",
     "hash", "nr", "no", "num", "number", "email", "mail", "phone", "ssn", "isbn"}
)  # fmt: skip
_TICKETS = frozenset({"ticket", "invoice", "order", "receipt", "serial", "token", "iban", "licence", "license"})
_TIMES = frozenset(
    {"t", "time", "times", "date", "day", "days", "week", "weeks", "month", "months", "quarter", "year", "years",
     "hour", "hours", "minute", "second", "step", "epoch", "age", "x"}
)  # fmt: skip
#: Who may stand in several rows.
_SOMEONE = frozenset(
    {"patient", "patients", "subject", "person", "participant", "user", "customer", "client", "student", "pupil",
     "donor", "animal", "mouse", "household", "family", "session", "speaker", "author", "driver", "player", "employee",
     "member", "respondent", "device", "sensor"}
)  # fmt: skip
#: Words of daily life that end as "customerid" does.
_NOT_IDENTIFIERS = re.compile(
    r"(acid|grid|solid|fluid|liquid|hybrid|valid|humid|covid|paid|avoid|rapid|thyroid|steroid|pyramid|android"
    r"|asteroid|centroid|plaid|ellipsoid|sigmoid|haploid|diploid|amyloid|lipid|braid|maid|raid|aid|bid|kid|mid|lid)$"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _parts(name: str) -> list[str]:
    """The words of a name: "CustomerID" is customer and id, "row_names" row and names."""
    return [part.lower() for part in _PARTS.findall(name)]


def says_identifier(name: str) -> bool:
    """Whether a name begins or ends as those of identifiers do.

    Examples
    --------
    >>> [says_identifier(name) for name in ("PassengerId", "customerid", "Unnamed: 0", "uric_acid", "age")]
    [True, True, True, False, False]
    """
    words = [part for part in _parts(name) if not part.isdigit()]
    if not words:
        return False
    return bool(
        words[0] in _IDENTIFIERS - {"no", "key", "code", "number"}
        or words[-1] in _IDENTIFIERS
        or re.fullmatch(r"column \d+", name)  # a header without a name
        or (len(words[-1]) > 3 and words[-1].endswith("id") and not _NOT_IDENTIFIERS.search(words[-1]))
    )


def says_ticket(name: str) -> bool:
    """Whether a name is that of papers, which are numbered, and of which several people may share one."""
    return not _TICKETS.isdisjoint(_parts(name))


def says_someone(name: str) -> bool:
    """Whether a name is that of people or things of which several rows may tell.

    Examples
    --------
    >>> [says_someone(name) for name in ("patient", "user_name", "patient age", "colour")]
    [True, True, False, False]
    """
    words = [part for part in _parts(name) if not part.isdigit() and part not in _IDENTIFIERS | {"name", "names"}]
    return len(words) == 1 and words[0] in _SOMEONE


def says_time(name: str) -> bool:
    """Whether a column that counts up may tell the time rather than number the rows."""
    return not _TIMES.isdisjoint(_parts(name))
