"""What each column holds is found out: a table of cases, and what is said, stored and repeated."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from mercer import SVC, KernelClassifier, load, read, save
from mercer.cli import main
from mercer.columns import decide
from mercer.io import DataError
from mercer.learners import LEARNERS
from mercer.preprocess import pipeline, prepare

N = 60
rng = np.random.default_rng(0)
WORDS = ["red", "green", "blue", "old", "young", "house", "river", "stone", "bread", "light"]
SURNAMES = [a + b for a in ["Ber", "Mor", "Sul", "Tan", "Wil", "Ku", "No", "Pe"] for b in
            ["ger", "ris", "livan", "aka", "son", "znetsov", "vak", "trov"]][:N]  # fmt: skip


def sentences(count=N):
    return [" ".join(rng.choice(WORDS, 8)) + f" {k}" for k in range(count)]


#: The name of a column, its cells, and its kind; "ignore" is left out.
CASES = {
    "measurements": ("size", [f"{x:.3f}" for x in rng.normal(size=N)], "number"),
    "whole numbers": ("rooms", [k % 7 for k in range(N)], "number"),
    "years stay numbers": ("built", [1950 + k for k in range(N)], "number"),
    "row numbers from 0": ("a", list(range(N)), "ignore"),
    "row numbers from 1": ("nothing", list(range(1, N + 1)), "ignore"),
    "days count up, and tell the time": ("day", list(range(1, N + 1)), "number"),
    "identifiers by name": ("PassengerId", rng.permutation(10 * N)[:N].tolist(), "ignore"),
    "an index with gaps": ("Unnamed: 0", [3 * k for k in range(N)], "ignore"),
    "acids are no identifiers": ("uric_acid", rng.permutation(10 * N)[:N].tolist(), "number"),
    "codes": ("part", [f"AB-{1000 + k}" for k in range(N)], "ignore"),
    "e-mail addresses": ("contact", [f"{name.lower()}@example.org" for name in SURNAMES], "ignore"),
    "hexadecimal keys": ("k", [f"{k * 7919 + 12345678:08x}f0" for k in range(N)], "ignore"),
    "tickets, some shared": ("ticket", [f"PC {k * 13}" if k % 2 else f"{k * 17}-x" for k in range(50)] * 1
                             + ["PC 13"] * 10, "ignore"),
    "one value": ("country", ["US"] * N, "ignore"),
    "one number": ("n", [7] * N, "ignore"),
    "empty": ("e", [""] * N, "ignore"),
    "one value and gaps": ("flag", ["yes", ""] * (N // 2), "category"),
    "categories": ("colour", ["red", "blue", "green"] * (N // 3), "category"),
    "yes and no": ("member", ["yes", "no"] * (N // 2), "category"),
    "cities": ("city", [f"{name} Town" for name in SURNAMES[:12]] * 5, "category"),
    "surnames": ("surname", SURNAMES, "text"),
    "sequences": ("dna", ["".join(rng.choice(list("ACGT"), 12)) for _ in range(N)], "text"),
    "free text": ("review", sentences(), "text"),
    "long answers that come again": ("answer", ["I agree with all of it", "I do not agree"] * (N // 2), "category"),
    "dates as the standard has them": ("when", [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(N)], "date"),
    "dates with dots": ("when", [f"{k % 28 + 1}.{k % 12 + 1}.2024" for k in range(N)], "date"),
    "American dates": ("when", [f"{k % 12 + 1}/{k % 28 + 1}/2024" for k in range(N)], "date"),
    "dates with names of months": ("when", [f"{k % 28 + 1} Mar {1990 + k}" for k in range(N)], "date"),
    "times with zones": ("when", [f"2024-03-{k % 28 + 1:02d}T10:{k % 60:02d}:00+02:00" for k in range(N)], "date"),
    "times with halves of the day": ("when", [f"3/{k % 28 + 1}/2024 {k % 12 + 1}:05 PM" for k in range(N)], "date"),
    "versions are no dates": ("version", [f"1.{k % 5}.{k % 3}" for k in range(N)], "category"),
    "telephones are no dates": ("call", [f"030-{k % 5 + 100}-{k % 3 + 2000}" for k in range(N)], "category"),
    "dollars": ("price", [f"${x:,.2f}" for x in rng.uniform(1, 5000, N)], "number"),
    "per cent": ("share", [f"{k % 50}%" for k in range(N)], "number"),
    "spaces between thousands": ("people", [f"{1 + k % 9} {k % 10}00" for k in range(N)], "number"),
    "a unit": ("weight", [f"{x:.1f} kg" for x in rng.uniform(40, 90, N)], "number"),
    "two units are words": ("weight", ["3 kg", "2 m"] * (N // 2), "category"),
}  # fmt: skip


def written(tmp_path, columns, name="t.csv"):
    path = tmp_path / name
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("case", CASES)
def test_kinds(tmp_path, case):
    name, cells, kind = CASES[case]
    columns = {name: cells, "other": rng.normal(size=N), "y": ["p", "q"] * (N // 2)}
    table = read(written(tmp_path, columns))
    assert table.kinds.get(name, "ignore") == kind
    assert (name in table.left_out) == (kind == "ignore")
    assert table.n_rows == N
    plain = kind in ("number", "category") and cells[0] != "$"
    assert plain or any(repr(name) in note and "--as" in note for note in table.notes)
    fitted = pipeline(table, KernelClassifier(None, "logistic", lam=0.1)).fit(table.X, table.y)
    assert np.isfinite(fitted.decision_function(table.X)).all()


def test_values_of_numbers_with_signs(tmp_path):
    cells = ["$1,200.50", "-$3", "($4)", "$0.5", "$7,000,000"] * 4
    table = read(written(tmp_path, {"price": cells, "y": ["p", "q"] * 10}))
    assert table.frame["price"].tolist()[:5] == [1200.5, -3, -4, 0.5, 7e6]


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["13/01/2024", "02/03/2024"], "2024-01-13"),
        (["01/13/2024", "02/03/2024"], "2024-01-13"),
        (["01/02/2024", "02/03/2024"], "2024-01-02"),
        (["01.02.2024", "02.03.2024"], "2024-02-01"),
        (["2024-01-02T23:30:00-05:00", "2024-01-02T10:00:00Z"], "2024-01-03T04:30"),
    ],
)
def test_day_or_month_first(tmp_path, cells, first):
    table = read(written(tmp_path, {"when": cells * 10, "y": ["p", "q"] * 10}))
    assert table.frame["when"][0] == pd.Timestamp(first)


def test_what_may_be_day_or_month_is_said_and_can_be_said_otherwise(tmp_path):
    path = written(tmp_path, {"when": ["1/2/2024", "3/4/2024"] * 10, "y": ["p", "q"] * 10})
    note = next(note for note in read(path).notes if "'when'" in note)
    assert "the month is taken to come first" in note
    kind = note.partition("--as when=")[2].split()[0]
    table = read(path, kinds={"when": kind})
    assert table.frame["when"][0] == pd.Timestamp("2024-02-01")
    assert not any("'when'" in note for note in table.notes)


def test_a_few_cells_that_are_no_dates_are_missing(tmp_path):
    cells = [f"2024-01-{k % 28 + 1:02d}" for k in range(59)] + ["soon"]
    table = read(written(tmp_path, {"when": cells, "y": ["p", "q"] * 30}))
    assert table.missing == {"when": 1}
    assert any("1 of 60 cells are none" in note for note in table.notes)


def test_never_is_everything_left_out(tmp_path):
    table = read(written(tmp_path, {"id": range(40), "one": [3] * 40, "y": ["p", "q"] * 20}))
    assert table.columns == ["id"]
    words = read(written(tmp_path, {"id": [f"n{k}" for k in range(40)], "y": ["p", "q"] * 20}))
    assert words.kinds == {"id": "text"}


def test_kinds_that_were_asked_for(tmp_path):
    columns = {"id": range(1, N + 1), "surname": SURNAMES, "x": rng.normal(size=N), "y": ["p", "q"] * (N // 2)}
    path = written(tmp_path, columns)
    table = read(path, kinds={"id": "number", "surname": "category", "x": "ignore"})
    assert table.kinds == {"id": "number", "surname": "category"}
    assert table.left_out == {"x": "as asked"}
    assert read(path, kinds={"x": "text"}).frame["x"].dtype == object
    with pytest.raises(DataError, match=r"column 'surname': '.*' is not a number"):
        read(path, kinds={"surname": "number"})
    with pytest.raises(DataError, match="column 'surname' holds no dates in one form"):
        read(path, kinds={"surname": "date"})
    with pytest.raises(DataError, match="no column 'surnam'; did you mean 'surname'"):
        read(path, kinds={"surnam": "text"})
    with pytest.raises(ValueError, match=r"must be 'number', .* got 'words'"):
        read(path, kinds={"x": "words"})


def test_a_name_that_looks_like_a_word_for_missing(tmp_path):
    names = [*SURNAMES[:-2], "Nan", "NA"]
    table = read(written(tmp_path, {"name": names, "x": rng.normal(size=N), "y": ["p", "q"] * (N // 2)}))
    assert table.frame["name"][N - 2] == "Nan"
    assert table.missing == {"name": 1}
    path = tmp_path / "t.csv"
    assert read(path, missing_words=False).missing == {}
    assert read(path, missing_words=False, missing=["NA"]).missing == {"name": 1}
    assert read(path, missing=["Nan"]).missing == {"name": 2}
    colours = written(tmp_path, {"c": ["red", "blue", "Null"] * 20, "y": ["p", "q"] * 30}, "c.csv")
    assert read(colours).missing == {"c": 20}  # names are written otherwise here
    assert CliRunner().invoke(main, ["check", str(path), "--no-missing-words"]).exit_code == 0


def test_raw_columns_of_other_readers():
    dates = np.array(["2024-01-01", "NaT", *["2024-03-05"] * 10], "datetime64[D]")
    found = decide({"when": dates, "whole": np.arange(12) % 5, "truth": np.arange(12) % 2 == 0})
    assert found.kinds == {"when": "date", "whole": "number", "truth": "number"}
    assert found.columns["when"].dtype == "datetime64[ns]"
    assert {column.dtype.name for name, column in found.columns.items() if name != "when"} == {"float64"}
    assert decide({"when": dates}, {"when": "category"}).kinds == {"when": "category"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)] * 3),
        min_size=1,
        max_size=30,
    )
)
def test_whatever_stands_in_cells(tmp_path, rows):
    path = tmp_path / "any.csv"
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(y=[k % 2 for k in range(len(rows))])
    frame.to_csv(path, index=False)
    try:
        table = read(path, "y")
    except DataError:
        return
    assert table.n_rows == len(rows)
    assert set(table.columns) | set(table.left_out) == {"a", "b", "c"}


# -- gaps ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def gaps(tmp_path):
    frame = pd.DataFrame(
        {
            "x": np.where(np.arange(N) % 6 == 0, np.nan, rng.normal(size=N)),
            "whole": rng.normal(size=N),
            "c": np.where(np.arange(N) % 5 == 0, None, np.array(["red", "blue"] * (N // 2), dtype=object)),
            "when": [None if k % 7 == 0 else f"2024-{k % 12 + 1:02d}-10" for k in range(N)],
            "review": [None if k % 8 == 0 else text for k, text in enumerate(sentences())],
            "y": ["p", "q"] * (N // 2),
        }
    )
    return read(written(tmp_path, frame))


def test_gaps_are_filled_and_told(gaps):
    rows = prepare(gaps, standardise=False).fit(gaps.X)
    names = rows.get_feature_names_out().tolist()
    values = pd.DataFrame(rows.transform(gaps.X).toarray(), columns=names)
    missing = gaps.frame["x"].isna().to_numpy()
    np.testing.assert_array_equal(values["missingindicator_x"], missing)
    np.testing.assert_allclose(values["x"][missing], gaps.frame["x"].median())
    np.testing.assert_array_equal(values["c_nan"], gaps.frame["c"].isna())
    np.testing.assert_array_equal(values["when missing"], gaps.frame["when"].isna())
    words = [name for name in names if name.startswith("review")]
    np.testing.assert_array_equal((values[words] == 0).all(axis=1), gaps.frame["review"].isna())
    assert "missingindicator_whole" not in names


def test_gaps_in_new_rows_alone(gaps):
    model = pipeline(gaps, KernelClassifier(None, "logistic", lam=0.1)).fit(gaps.X, gaps.y)
    new = gaps.frame.assign(whole=np.nan)
    assert np.isfinite(model.decision_function(new)).all()


@pytest.mark.parametrize(
    "kernel",
    [
        "gaussian(gamma=0.1).on(x) + equal.on(c)",
        "gaussian(gamma=0.1).on(x, when) + normalised(spectrum(p=3)).on(review)",
    ],
)
def test_kernels_on_columns_with_gaps(gaps, kernel, tmp_path):
    model = pipeline(gaps, SVC(kernel)).fit(gaps.X, gaps.y)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(gaps.X), model.decision_function(gaps.X))
    with pytest.raises(DataError, match="impute='none'"):
        pipeline(gaps, SVC(kernel), impute="none")


@pytest.mark.parametrize(
    "options", [{}, {"correlation": 0.9, "degree": 2, "constant": True}, {"standardise": "minmax"}]
)
def test_models_are_saved_with_all_kinds(gaps, options, tmp_path):
    gaps.frame["many"] = pd.Categorical([f"w{k % 55}" for k in range(N)])
    model = pipeline(gaps, KernelClassifier("gaussian(gamma=0.1)", "logistic", lam=0.1), **options).fit(gaps.X, gaps.y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.decision_function(gaps.X), model.decision_function(gaps.X))
    names = [each["prepare"].get_feature_names_out().tolist() for each in (model, again)]
    assert names[0] == names[1]


# -- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 120
    frame = pd.DataFrame(
        {
            "CustomerID": range(1, n + 1),
            "age": np.where(np.arange(n) % 9 == 0, np.nan, rng.integers(18, 80, n)),
            "city": rng.choice(["Bonn", "Genoa", "Lyon"], n),
            "signup": pd.date_range("2023-01-30", periods=n, freq="3D").strftime("%d/%m/%Y"),
            "note": sentences(n),
            "country": "EU",
        }
    )
    frame["churn"] = np.where(frame["note"].str.contains("river"), "yes", "no")
    frame.to_csv("shop.csv", index=False)
    return frame


def mercer(line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CliRunner().invoke(main, line.split())


def test_train_and_run_repeat_the_kinds(shop):
    done = mercer("train logistic shop.csv -o m --json")
    assert done.exit_code == 0, done.output
    about = json.loads(mercer("inspect m --json").stdout)
    assert about["kinds"] == {
        "age": "number", "city": "category", "signup": "date:%d/%m/%Y", "note": "text"
    }  # fmt: skip
    assert set(about["left_out"]) == {"CustomerID", "country"}
    # New rows have other cities, dates that might be read otherwise, no gaps, and none of what was left out.
    new = shop.drop(columns=["CustomerID", "country"]).head(12)
    new["city"] = ["Oslo", "Rome", *new["city"][2:]]
    new["signup"] = "02/03/2023"
    new["age"] = 40
    new.assign(extra=range(12)).to_csv("new.csv", index=False)
    run = mercer("run m new.csv -o p.csv")
    assert run.exit_code == 0, run.output
    assert (
        "'city': 2 rows hold a category that the model has not seen ('Oslo' and 'Rome'); they count as none"
        in run.output
    )
    assert "does not know are ignored: 'extra'" in run.output
    table = read("new.csv", "churn", kinds=about["kinds"], columns=about["columns"])
    assert table.frame["signup"][0] == pd.Timestamp("2023-03-02")
    scores = load("m").decision_function(table.X)
    np.testing.assert_allclose(pd.read_csv("p.csv")["score"], scores, rtol=1e-6)


def test_run_asks_for_no_column_that_the_model_does_not_use(shop):
    assert mercer("train svc shop.csv --kernel gaussian(gamma=0.01).on(age)+equal.on(city) -o m").exit_code == 0
    shop[["age", "city", "churn"]].to_csv("few.csv", index=False)
    assert mercer("run m few.csv").exit_code == 0
    shop[["age", "churn"]].to_csv("fewer.csv", index=False)
    lacking = mercer("run m fewer.csv")
    assert lacking.exit_code != 0
    assert "lacks columns that the model was trained on: 'city'" in lacking.output


def test_as_says_otherwise(shop):
    assert mercer("train logistic shop.csv --as CustomerID=number --as note=ignore -o m").exit_code == 0
    about = json.loads(mercer("inspect m --json").stdout)
    assert about["kinds"]["CustomerID"] == "number"
    assert "note" not in about["kinds"]
    assert "should look like COLUMN=KIND" in mercer("check shop.csv --as note=words").output


@pytest.mark.parametrize(
    "command",
    [
        "check",
        "kernel",
        pytest.param("tune logistic", marks=pytest.mark.thorough),
        "compare --learners svc --cv 2 --repeats 1 --no-trees -o report",
    ],
)
def test_every_command_works_with_gaps_dates_and_texts(shop, command):
    verb, *rest = command.split()
    names = [word for word in rest if not word.startswith("-") and verb == "tune"]
    line = f"{verb} {' '.join(names)} shop.csv {' '.join(word for word in rest if word not in names)}"
    done = mercer(line)
    assert done.exit_code == 0, done.output
    told = "Left out: 'CustomerID' (a number for each row) and 'country' (only one value)" in done.output
    assert told or verb == "kernel"
    if verb == "compare":
        with open("report/report.json") as file:
            facts = json.load(file)
        kinds = {each["name"]: each["kind"] for each in facts["data"]["columns_read"]}
        assert kinds == {"age": "number", "city": "category", "signup": "date", "note": "text"}
        assert [each["name"] for each in facts["data"]["left_out"]] == ["CustomerID", "country"]


# -- is it any good? ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_messy_table_is_learned_as_well_as_one_prepared_by_hand(tmp_path):
    """People with an identifier, a date, gaps and free text, one in twenty of them positive."""
    draw = np.random.default_rng(1)
    n = 6000
    age, hours = draw.normal(40, 12, n), draw.normal(38, 8, n)
    job = draw.choice(["clerk", "cook", "smith", "driver"], n)
    month = draw.integers(0, 12, n)
    keen = draw.random(n) < 0.3
    score = (age - 40) / 12 + (job == "smith") + np.sin(2 * np.pi * month / 12) + 1.5 * keen + draw.logistic(size=n)
    y = np.where(score > np.quantile(score, 0.95), ">50K", "<=50K")
    text = [" ".join([*draw.choice(WORDS, 6), "very keen" if each else "not so sure"]) for each in keen]
    frame = pd.DataFrame(
        {
            "id": [f"P{k:06d}" for k in draw.permutation(n)],
            "age": np.where(draw.random(n) < 0.1, np.nan, age),
            "hours": hours,
            "job": np.where(draw.random(n) < 0.1, None, job),
            "joined": [f"{draw.integers(1, 29):02d}.{m + 1:02d}.{draw.integers(2015, 2024)}" for m in month],
            "remark": [f"{words} {k % 97}" for k, words in enumerate(text)],
            "income": y,
        }
    )
    table = read(written(tmp_path, frame))
    assert table.kinds == {"age": "number", "hours": "number", "job": "category", "joined": "date", "remark": "text"}
    train, test = train_test_split(np.arange(n), test_size=0.4, random_state=0, stratify=y)
    own = pipeline(table, LEARNERS["logistic"].build()).fit(table.X.iloc[train], table.y[train])
    by_hand = pd.DataFrame({"age": np.where(frame["age"].isna(), 40, frame["age"]), "hours": hours})
    by_hand = by_hand.join(pd.get_dummies(frame["job"].fillna("?")))
    by_hand["sin"], by_hand["cos"] = np.sin(2 * np.pi * month / 12), np.cos(2 * np.pi * month / 12)
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(frame["remark"])
    by_hand = sparse.hstack([((by_hand - by_hand.mean()) / by_hand.std()).to_numpy(), words]).tocsr()
    other = LogisticRegression(max_iter=1000).fit(by_hand[train], y[train])
    positive = y[test] == ">50K"
    ours = roc_auc_score(positive, own.decision_function(table.X.iloc[test]))
    theirs = roc_auc_score(positive, other.decision_function(by_hand[test]))
    assert ours > theirs - 0.01


def test_a_column_that_a_kernel_names_is_never_left_out(tmp_path):
    from click.testing import CliRunner

    from mercer.cli import main

    path = tmp_path / "t.csv"
    path.write_text("row,x,y\n" + "".join(f"{k},{(7 * k) % 11},{'a' if k < 20 else 'b'}\n" for k in range(40)))
    assert "row" in read(path).left_out
    assert read(path, kinds={"row": "keep"}).kinds["row"] == "number"
    model = str(tmp_path / "m")
    done = CliRunner().invoke(main, ["train", "svc", str(path), "--kernel", "gaussian(gamma=.1).on(row)", "-o", model])
    assert done.exit_code == 0, done.output
    assert "training error           0.00 %" in done.output


@pytest.mark.parametrize(
    ("text", "column", "kind", "first"),
    [
        ("p;y\n" + "".join(f"1.2{k:02d},50 €;{k % 2}\n" for k in range(30)), "p", "number", 1200.5),
        ("p,y\n" + "".join(f'"1,2{k:02d}",{k % 2}\n' for k in range(30)), "p", "number", 1200.0),
        ("p,y\n" + "".join(f"0{1000 + k % 7},{k % 2}\n" for k in range(60)), "p", "category", "01000"),
        ("p,y\n" + "".join(f"{'2024-03-04' if k % 2 else f'{k % 28 + 1}/05/2023'},{k % 3}\n" for k in range(60)),
         "p", "date", pd.Timestamp("2023-05-01")),
        ("# exported\n\np,q,y\n" + "".join(f"{k % 9},{k % 4},{k % 2}\n" for k in range(30)), "p", "number", 0.0),
    ],
    ids=["comma and euro", "thousands", "zip codes", "two forms of dates", "a remark above"],
)  # fmt: skip
def test_ordinary_ways_of_writing(tmp_path, text, column, kind, first):
    (tmp_path / "t.csv").write_text(text)
    table = read(tmp_path / "t.csv", "y")
    assert table.kinds[column] == kind
    assert table.frame[column].iloc[0] == first


def test_targets_with_a_sign_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("x,price\n" + "".join(f'{k % 7},"$1,{k:03d}.50"\n' for k in range(50)))
    table = read(tmp_path / "t.csv")
    assert table.task == "regress"
    assert table.y[:2].tolist() == [1000.5, 1001.5]


def test_signs_of_windows(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"p,y\n" + b"".join(b"%d \x80,%d\n" % (k, k % 2) for k in range(30)))
    table = read(tmp_path / "t.csv")
    assert table.frame["p"].iloc[3] == 3.0
    assert "Windows-1252" in " ".join(table.notes)


def test_money_with_a_few_words_is_no_code(tmp_path):
    cells = [f'"${1000 + 37.5 * k:,.2f}"' for k in range(60)] + ["unknown", "unknown"]
    path = tmp_path / "money.csv"
    path.write_text("income,y\n" + "".join(f"{cell},{'ab'[k % 2]}\n" for k, cell in enumerate(cells)))
    sentence = r"column 'income': 'unknown' is not a number, but all except 2 cells are, such as .*--missing unknown"
    with pytest.raises(DataError, match=sentence):
        read(path)
    with pytest.raises(DataError, match="--missing unknown"):
        read(path, kinds={"income": "number"})
    assert read(path, missing=["unknown"]).kinds["income"] == "number"
