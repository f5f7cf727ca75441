"""Which kind each column is of, and the column as that kind is kept: the one rule for all files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..messages import enumeration, guide
from ..runtime.arrays import Array
from .values import are_molecules, dates, parsed, sampled, signed_either_way, text_units, words_each

# What the name of a column says: an identifier, a place in time, or nothing.


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


# What was decided about columns, in plain sentences, each with the way to decide otherwise.


#: Columns that are named in one sentence.
_NAMED = 6
#: People or things from which on they can be told from categories.
_FEWEST = 5
#: Rows whose time differs from that of the row before, and the share of these that go the same way in sorted rows.
_STEPS, _SORTED = 20, 0.98
_COMPARED = {
    "characters": "letter by letter",
    "words": "by its words",
    "both": "by its words and letter by letter",
}


def in_words(found: Mapping[str, Any], asked: Mapping[str, str]) -> list[str]:
    """A sentence for each kind of decision that is not plain."""
    judged = {name: column for name, column in found.items() if name not in asked}
    dated = {name: column for name, column in found.items() if column.kind == "date"}
    doubtful = {name: column for name, column in dated.items() if column.or_else}
    plain = {name: column for name, column in dated.items() if name in judged and name not in doubtful}
    texts = {name: column for name, column in judged.items() if column.kind == "text"}
    return [
        *_left_out(judged),
        *_signed(judged),
        *_dates(plain),
        *(_day_or_month(name, column) for name, column in doubtful.items()),
        *(_text(name, column.values) for name, column in texts.items()),
        *_several_rows_each(judged),
        *_in_order(judged),
    ]


def _left_out(judged: Mapping[str, Any]) -> list[str]:
    gone = {name: column for name, column in judged.items() if column.kind == "ignore"}
    if not gone:
        return []
    because = enumeration((f"{name!r} ({column.why})" for name, column in gone.items()), _NAMED)
    name = next(iter(gone))
    kind = "number" if getattr(gone[name].values, "dtype", None) == "float64" else "category"
    back = "brings it back" if len(gone) == 1 else "brings one back"
    return [f"Left out: {because}; --as {quoted(name)}={kind} {back}."]


def _signed(judged: Mapping[str, Any]) -> list[str]:
    signed = {name: column for name, column in judged.items() if column.kind == "number" and column.detail}
    if not signed:
        return []
    read = enumeration((f"{name!r} ({column.detail})" for name, column in signed.items()), _NAMED)
    first = next(iter(signed))
    return [f"Read as numbers without their signs and units: {read}; --as {quoted(first)}=category keeps the texts."]


def _dates(dated: Mapping[str, Any]) -> list[str]:
    if not dated:
        return []
    named = enumeration((f"{name!r}{_few(column)}" for name, column in dated.items()), _NAMED)
    return [
        f"{named} {'holds' if len(dated) == 1 else 'hold'} dates; learned as days since the first one, with season, "
        f"weekday and hour where they vary; --as {quoted(next(iter(dated)))}=category keeps the texts."
    ]


def _day_or_month(name: str, column: Any) -> str:
    first = "month" if column.form.startswith("%m") else "day"
    return (
        f"{name!r}{_few(column)} holds dates; the {first} is taken to come first, though the values do not tell; "
        f"--as {quoted(name)}=date:{column.or_else} says otherwise."
    )


def _few(column: Any) -> str:
    return f" ({column.detail})" if column.detail else ""


def _several_rows_each(judged: Mapping[str, Any]) -> list[str]:
    """Columns of people or things that stand in several rows: a model may know them by their other rows."""
    said = []
    for name, column in judged.items():
        if column.kind == "ignore" or not (says_someone(name) or says_identifier(name)):
            continue
        rows, different = len(column.values), _different(column.values)
        if _FEWEST <= different <= rows / 2:
            said.append(
                f"{name!r} has {different:,} values in {rows:,} rows; if rows of one belong together, compare and tune "
                f"with --group {quoted(name)}, or the errors are too good {guide('leakage')}."
            )
    return said


def _in_order(judged: Mapping[str, Any]) -> list[str]:
    """The first column that tells the time and by which the rows are sorted, but for some of them."""
    for name, column in judged.items():
        if column.kind != "date" and not (column.kind == "number" and says_time(name)):
            continue
        times = np.asarray(column.values)
        times = times[~np.isnat(times)] if times.dtype.kind == "M" else times[~np.isnan(times)]
        steps = np.diff(times.astype(np.int64) if times.dtype.kind == "M" else times)
        moved = steps[steps != 0]
        if moved.size >= _STEPS and max(np.mean(moved > 0), np.mean(moved < 0)) >= _SORTED:
            return [
                f"The rows are in the order of {name!r}; if later ones are to be predicted from earlier ones, say so "
                f"with --time {quoted(name)}, or the errors are too good {guide('leakage')}."
            ]
    return []


def _different(values: Any) -> int:
    return int(pd.Series(values).nunique())


def _text(name: str, values: Any) -> str:
    texts = [text for text in values if text]
    length = words_each(texts)
    how = _COMPARED[text_units(texts)]
    otherwise = f"--as {quoted(name)}=category or =ignore says otherwise."
    if are_molecules(texts):
        return f"{name!r} holds molecules (SMILES); compared letter by letter, capitals as they are; {otherwise}"
    if length < 4:
        return f"{name!r} holds names or other words that rarely repeat; compared {how}; {otherwise}"
    return f"{name!r} is free text (about {length:,.0f} words each); compared {how}; {otherwise}"


def quoted(name: str) -> str:
    """A name as people write it in a shell."""
    return name if name.replace("_", "").isalnum() else f"{name!r}"


# What is odd about the labels of a target, in plain sentences.


#: Rows from which on it means something that all values differ, and pairs of labels that are named.
_ENOUGH_LABELS, _NAMED_LABELS = 20, 3


def about_labels(target: str, labels: Iterable[Any]) -> list[str]:
    """A sentence where classes differ only in how they are written, and one where the target numbers the rows.

    Examples
    --------
    >>> about_labels("ill", ["Yes", "no", "yes", "no"])
    ["The classes 'Yes' and 'yes' differ only in capitals or spaces; if they are one, write them alike."]
    >>> about_labels("id", range(1001, 1041))
    ["The target 'id' has another value in each of 40 rows and is named like an identifier; --target names another."]
    """
    count, different = _different_labels(labels)
    said = []
    alike: dict[str, list[str]] = {}
    for label in different:
        if isinstance(label, (str, np.str_)):
            alike.setdefault("".join(label.casefold().split()), []).append(str(label))
    same = [words for words in alike.values() if len(words) > 1]
    if same and len(different) < count:
        named = "; ".join(enumeration(map(repr, words)) for words in same[:_NAMED_LABELS])
        said.append(f"The classes {named} differ only in capitals or spaces; if they are one, write them alike.")
    if count >= _ENOUGH_LABELS and len(different) == count and says_identifier(target):
        said.append(
            f"The target {target!r} has another value in each of {count:,} rows and is named like an identifier; "
            "--target names another."
        )
    return said


def _different_labels(labels: Iterable[Any]) -> tuple[int, list[Any]]:
    """How many labels there are, and the different ones."""
    if isinstance(labels, np.ndarray):
        return labels.size, np.unique(labels).tolist()
    count = 0
    found: dict[Any, None] = {}
    for label in labels:
        found[label] = None
        count += 1
    return count, list(found)


# What a column of words holds: categories, texts, or identifiers.


#: Rows from which on it means something that all words differ.
_ENOUGH_WORDS = 20
#: The share of words of one shape, and of different words among all, of identifiers.
_ALIKE, _DIFFERENT = 0.9, 0.95
#: Categories come again and again: more different words than this, for each row that has one, are texts.
_OFTEN, _OFTEN_IN_SENTENCES = 0.5, 0.3
#: Sentences have so many words.
_SENTENCE = 4
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_HEXADECIMAL = re.compile(r"(?=.*\d)[0-9a-fA-F][0-9a-fA-F-]{7,}")


def kind_of_words(name: str, words: Sequence[str], counts: Array) -> tuple[str, str]:
    """The kind of a column by its different words and how often each occurs, and why it is left out if it is.

    Examples
    --------
    >>> import numpy as np
    >>> kind_of_words("city", ["Oslo", "Rome"], np.array([30, 20]))
    ('category', '')
    >>> kind_of_words("part", [f"AB-{k}" for k in range(50)], np.ones(50))
    ('ignore', 'a code for each row')
    >>> kind_of_words("review", [f"this film is number {k}" for k in range(50)], np.ones(50))
    ('text', '')
    """
    rows, different = float(counts.sum()), len(words)
    share, length = different / max(1.0, rows), words_each(words)
    if rows >= _ENOUGH_WORDS and length <= 2:
        if share >= _DIFFERENT and _are_codes(words):
            return "ignore", "a code for each row"
        if (share >= 0.9 and says_identifier(name)) or (share >= 0.7 and says_ticket(name)):
            return "ignore", "a different value in each row, and a name like that of an identifier"
    if length >= _SENTENCE:
        many = different > _ENOUGH_WORDS and (share > _OFTEN_IN_SENTENCES or different > 10 * _ENOUGH_WORDS)
        return ("text" if many or (share > _OFTEN and different > 3) else "category"), ""
    return ("text" if different > _ENOUGH_WORDS and share >= _OFTEN else "category"), ""


def _are_codes(words: Sequence[str]) -> bool:
    """Whether words look like e-mail addresses, hexadecimal numbers, letters and digits in one order, or numbers."""
    some = sampled(words)
    enough = _ALIKE * len(some)
    if any(sum(map(bool, map(shape.fullmatch, some))) >= enough for shape in (_ADDRESS, _HEXADECIMAL)):
        return True
    shape, count = Counter(map(_shape, some)).most_common(1)[0]
    if count < enough or "9" not in shape:
        return False
    # Words before a number, as in "day 7", are no text where all rows have the same ones.
    return " " not in shape or len({re.sub(r"\d+", "9", word) for word in some}) <= 1


def _shape(word: str) -> str:
    """The order of letters and digits in a word: AB-1234 is A-9."""
    return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", word))


#: What a column may be asked to be; "keep" is as it looks but never left out, "ignore" and "id" leave it out.
KINDS = ("number", "category", "date", "text", "keep", "ignore", "id")
#: Rows from which on a column tells its kind by its values: fewer may be alike, or all different, by chance.
_ENOUGH_ROWS = 10
#: Rows from which on a column that counts them is no chance.
_COUNTED = 20
#: The share of cells from which on the others are mistakes.
_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Column:
    """A column as it is kept: float64, Categorical, datetime64[ns] or texts; and what is worth a note."""

    kind: str
    values: Any
    why: str = ""
    detail: str = ""
    form: str | None = None
    or_else: str | None = None


@dataclass(frozen=True)
class Decided:
    """The columns that stay, the kind of each, why others were left out, and what to say about it.

    ``forms`` are the kinds that say how dates are written, to be asked for where other files of the same kind are read.
    """

    columns: dict[str, Any]
    kinds: dict[str, str]
    left_out: dict[str, str]
    notes: list[str]
    forms: dict[str, str] = field(default_factory=dict)


def check_kind(kind: str) -> bool:
    """Whether this names a kind; dates may say how they are written, as in ``date:%d.%m.%Y``."""
    return kind in KINDS or (kind.startswith("date:") and len(kind) > len("date:"))


def decide(columns: Mapping[str, Any], asked: Mapping[str, str] | None = None, decimal: str = ".") -> Decided:
    """Decide what each column holds.

    Parameters
    ----------
    columns : mapping
        Arrays of numbers, of ``datetime64``, or pandas Categoricals of words.
    asked : mapping, optional
        The kinds of some columns, as people or models say them; these are not judged.
    decimal : {".", ","}
        The decimal sign of numbers with something around them.

    Returns
    -------
    Decided

    Raises
    ------
    ValueError
        Where a column cannot be of the kind that was asked for.
    """
    asked = asked or {}
    found = {
        name: _as_asked(name, values, asked[name], decimal) if name in asked else _judged(name, values, decimal)
        for name, values in columns.items()
    }
    if found and not any(column.kind != "ignore" for column in found.values()):
        found |= _brought_back(columns, asked, found)
    stay = {name: column for name, column in found.items() if column.kind != "ignore"}
    return Decided(
        {name: column.values for name, column in stay.items()},
        {name: column.kind for name, column in stay.items()},
        {name: column.why for name, column in found.items() if column.kind == "ignore"},
        in_words(found, asked),
        {name: f"date:{column.form}" for name, column in stay.items() if column.form},
    )


# -- as they look -------------------------------------------------------------------------------------------------


def _judged(name: str, values: Any, decimal: str) -> Column:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        why = _says_nothing(name, values)
        kind = "ignore" if why else "date" if values.dtype.kind == "M" else "number"
        kept = "datetime64[ns]" if values.dtype.kind == "M" else np.float64
        return Column(kind, values.astype(kept, copy=False), why)
    words, counts = _words_of(values)
    if not counts.size or (counts.size == 1 and counts[0] == len(values) >= _ENOUGH_ROWS):
        return Column("ignore", values, "only one value" if counts.size else "no values")
    written = dates(words, counts)
    if written is not None:
        column = _dated(values, written.values, written.form, written.or_else)
        why = _says_nothing(name, column.values)
        return Column("ignore", column.values, why) if why else column
    signed = signed_either_way(words, decimal)
    if signed is not None:
        numbers = _spread_out(values, signed.values)
        why = _says_nothing(name, numbers)
        return Column("ignore" if why else "number", numbers, why, detail=f"{words[0]!r} as {signed.values[0]:g}")
    _refuse_few_odd_words(name, words, counts, decimal)
    kind, why = kind_of_words(name, words, counts)
    return Column(kind, _texts(values) if kind == "text" else values, why)


def _refuse_few_odd_words(name: str, words: list[str], counts: Array, decimal: str) -> None:
    """Raise where nearly all cells of a column are numbers with something around them: the others are mistakes."""
    some = sampled(words)
    if counts.sum() < _COUNTED or sum(_is_number(word, decimal) for word in some) < _NEARLY_ALL * len(some):
        return
    right = np.array([_is_number(word, decimal) for word in words])
    numbers = [word for word, good in zip(words, right, strict=True) if good]
    odd = int(counts[~right].sum())
    if odd > (1 - _NEARLY_ALL) * counts.sum() or signed_either_way(numbers, decimal) is None:
        return
    word = words[int(np.flatnonzero(~right)[0])][:40]
    rows = "1 cell" if odd == 1 else f"{odd} cells"
    raise ValueError(
        f"column {name!r}: {word!r} is not a number, but all except {rows} are, such as {numbers[0]!r}; correct it, "
        f"name it as a word for missing (--missing {quoted(word)}), or read the column as categories "
        f"(--as {quoted(name)}=category)"
    )


def _is_number(word: str, decimal: str) -> bool:
    return signed_either_way([word], decimal) is not None


def _says_nothing(name: str, values: Array) -> str:
    """Why a column of numbers or dates is left out; nothing where it stays."""
    missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    if missing.all():
        return "no values"
    if missing.any() or values.size < _ENOUGH_ROWS:
        return ""  # one value and gaps are two things
    if (values == values[0]).all():
        return "only one value"
    if values.dtype.kind == "M" or (values != np.floor(values)).any():
        return ""
    counts_up = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    if counts_up and values.size >= _COUNTED and not says_time(name):
        return "a number for each row"
    if says_identifier(name) and np.unique(values).size == values.size:
        return "a number for each row"
    return ""


# -- as people say ------------------------------------------------------------------------------------------------


def _as_asked(name: str, values: Any, kind: str, decimal: str) -> Column:
    kind, _, form = kind.partition(":")
    if kind in ("ignore", "id"):
        return Column("ignore", values, "as asked")
    if kind == "keep":
        column = _judged(name, values, decimal)
        return column if column.kind != "ignore" else _kept(values, column)
    if kind == "number":
        return Column("number", _numbers(name, values, decimal))
    if kind == "date":
        return _asked_date(name, values, form)
    words = values if hasattr(values, "codes") else _categories(values)
    return Column(kind, _texts(words) if kind == "text" else words)


def _numbers(name: str, values: Any, decimal: str) -> Array:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        if values.dtype.kind == "M":  # days
            days = (values - np.datetime64(0, "s")) / np.timedelta64(1, "D")
            return np.where(np.isnat(values), np.nan, days)
        return values.astype(np.float64)
    words, _ = _words_of(values)
    signed = signed_either_way(words, decimal)
    if signed is None:
        strange = next((word for word in words if signed_either_way([word], decimal) is None), words[-1])
        raise ValueError(
            f"column {name!r}: {strange[:40]!r} is not a number; correct it, or name it as a word for missing "
            f"(--missing {quoted(strange[:40])})"
        )
    return _spread_out(values, signed.values)


def _asked_date(name: str, values: Any, form: str) -> Column:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        if values.dtype.kind == "M":
            return Column("date", values.astype("datetime64[ns]"))
        values = _categories(values)
    words, counts = _words_of(values)
    if form:
        try:
            read = parsed(words, form)
        except ValueError as error:
            raise ValueError(f"column {name!r}: {form!r} is no form of dates ({error})") from None
        if counts.size and counts[~np.isnat(read)].sum() == 0:
            raise ValueError(f"column {name!r}: {words[0][:40]!r} is no date of the form {form!r}")
        return _dated(values, read, form)
    written = dates(words, counts)
    if written is None:
        raise ValueError(
            f"column {name!r} holds no dates in one form that is known, such as {words[0][:40] if words else ''!r}; "
            f"say how they are written, as in --as {name}=date:%d.%m.%Y"
        )
    return _dated(values, written.values, written.form, written.or_else)


# -- from words to values -----------------------------------------------------------------------------------------


def _words_of(values: Any) -> tuple[list[str], Array]:
    """The different words that occur in a column, and in how many rows each does."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
    used = np.flatnonzero(counts)
    return [str(word) for word in np.asarray(values.categories, dtype=object)[used]], counts[used]


def _spread_out(values: Any, by_word: Array) -> Array:
    """A value for each row from one for each word that occurs."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
    nothing = np.array(["NaT"], "datetime64[ns]") if by_word.dtype.kind == "M" else np.array([np.nan])
    of_category = np.repeat(nothing, counts.size + 1)
    of_category[np.flatnonzero(counts)] = by_word
    return of_category[values.codes]


def _dated(values: Any, by_word: Array, form: str, or_else: str | None = None) -> Column:
    days = _spread_out(values, by_word)
    present = values.codes >= 0
    lost = int((np.isnat(days) & present).sum())
    detail = f"{lost} of {int(present.sum())} cells are none and count as missing" if lost else ""
    return Column("date", days, detail=detail, form=form, or_else=or_else)


def _texts(values: Any) -> Array:
    words = np.array([*values.categories, None], dtype=object)
    return words[values.codes]


def _categories(values: Any) -> Any:
    values = np.asarray(values)
    if values.dtype.kind == "f":
        words = [None if value != value else str(int(value)) if value == int(value) else repr(value)
                 for value in values.tolist()]  # fmt: skip
    elif values.dtype.kind == "M":
        words = [None if np.isnat(value) else str(value) for value in values.astype("datetime64[s]")]
    else:
        words = [None if value is None or value != value else str(value) for value in values.tolist()]
    return pd.Categorical(words)


def _brought_back(
    columns: Mapping[str, Any], asked: Mapping[str, str], found: Mapping[str, Column]
) -> dict[str, Column]:
    """Where nothing would be left, the columns that say most of what was to be left out: those with several values."""
    for unlike in ("only one value", "no values"):
        kept = {}
        for name, column in found.items():
            if name in asked or column.why in ("no values", unlike):
                continue
            kept[name] = _kept(columns[name], column)
        if kept:
            return kept
    return {}


def _kept(values: Any, column: Column) -> Column:
    """A column that would be left out, as it looks."""
    if not hasattr(column.values, "codes"):  # numbers and dates, also those that were written as words
        return Column("date" if np.asarray(column.values).dtype.kind == "M" else "number", column.values)
    several = column.why not in ("only one value", "no values")
    return Column("text", _texts(values)) if several else Column("category", values)
