"""Tests with kernels: their level where there is nothing to find, their power beside hyppo's, their time, and drift.

    python -m benchmarks.kernel_tests --json FILE [--only level power time drift] [--trials 10000]

The power is measured beside hyppo where that is installed (``pip install hyppo``), on its own twenty simulations of
dependence (HSIC) and on the same, rotated by 90°, as two samples (MMD), with the same number of permutations for both.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from mercer.statistics import hsic, kci, ksd, mmd
from reproductions.results import Results

#: Permutations of null trials: 5 % is 10 of 200 values of p.
PERMUTATIONS = 199
#: Rows and permutations of a trial of power.
ROWS, REPS = 100, 200


class _Shown(Results):
    """Figures that are printed as they come."""

    def add(self, what, value, bar, ok, note):
        super().add(what, value, bar, ok, note)
        print(f"{'ok    ' if ok else 'NOT OK'} {what}: {value} ({bar}) {note}", flush=True)


def _words(random, count):
    return ["".join(random.choice(list("abc"), random.integers(3, 9))) for _ in range(count)]


def _through(random, n):
    z = random.normal(size=n)
    return np.sin(2 * z) + 0.5 * random.normal(size=n), z**2 + 0.5 * random.normal(size=n), z


#: A null trial of each test: from a random generator to a p-value, and the share of the trials that it is worth.
NULLS = {
    "mmd, 12 and 20 rows": (lambda r, o: mmd(r.normal(size=(12, 2)), r.normal(size=(20, 2)), **o), 1.0),
    "mmd, 5 and 50 rows": (lambda r, o: mmd(r.exponential(size=(5, 3)), r.exponential(size=(50, 3)), **o), 1.0),
    "mmd, landmarks": (lambda r, o: mmd(r.normal(size=(15, 2)), r.normal(size=(15, 2)), rank=8, **o), 1.0),
    "mmd, strings, 10 and 15": (lambda r, o: mmd(_words(r, 10), _words(r, 15), **o), 1.0),
    "hsic, 20 rows": (lambda r, o: hsic(r.normal(size=20), r.exponential(size=20), **o), 1.0),
    "hsic, strings and numbers": (lambda r, o: hsic(_words(r, 15), r.normal(size=15), **o), 1.0),
    "ksd, 30 rows": (lambda r, o: ksd(r.normal(size=30), lambda x: -x, **o), 1.0),
    "ksd, 200 rows": (lambda r, o: ksd(r.normal(size=200), lambda x: -x, **o), 1.0),
    "kci, 100 rows": (lambda r, o: kci(*_through(r, 100), **o), 0.2),
    "kci, 200 rows": (lambda r, o: kci(*_through(r, 200), **o), 0.2),
}


def level(results, trials):
    """How often p ≤ 0.05 where there is nothing to be found."""
    for name, (trial, share) in NULLS.items():
        count = max(1, int(share * trials))
        begin = time.process_time()
        found = [
            trial(np.random.default_rng([11, k]), {"permutations": PERMUTATIONS, "random_state": k}).pvalue
            for k in range(count)
        ]
        rejected = float(np.mean(np.array(found) <= 0.05))
        low, high = stats.binom.ppf([0.005, 0.995], count, 0.05) / count
        results.add(
            f"level of {name}, {count} trials", round(rejected, 4), f"{low:.4f} to {high:.4f}",
            low <= rejected <= high, f"{1000 * (time.process_time() - begin) / count:.1f} ms of CPU a trial",
        )  # fmt: skip


def power(results, trials):
    """The share of trials with p ≤ 0.05, beside hyppo's."""
    try:
        from hyppo.independence import Hsic
        from hyppo.ksample import MMD
        from hyppo.tools import SIMULATIONS, rot_ksamp
    except ImportError:
        results.add("power beside hyppo", None, "hyppo installed", False, "pip install hyppo")
        return
    ours, theirs, ahead = {}, {}, {}
    for test in ("hsic", "mmd"):
        for name in SIMULATIONS:
            pairs = []
            for seed in range(trials):
                np.random.seed(seed)
                if test == "hsic":
                    extra = {} if name in ("multiplicative_noise", "multimodal_independence") else {"noise": True}
                    x, y = SIMULATIONS[name](ROWS, 1, **extra)
                    peer = Hsic().test(x, y, reps=REPS, auto=False, random_state=seed)[1]
                    mine = hsic(x, y, permutations=REPS, random_state=seed).pvalue
                else:
                    extra = {} if name in ("multiplicative_noise", "multimodal_independence") else {"noise": True}
                    x, y = rot_ksamp(name, ROWS, 1, k=2, degree=90, pow_type="samp", noise=bool(extra))
                    peer = MMD().test(x, y, reps=REPS, auto=False, random_state=seed)[1]
                    mine = mmd(x, y, permutations=REPS, random_state=seed).pvalue
                pairs.append((mine <= 0.05, peer <= 0.05))
            ours[test, name], theirs[test, name] = np.mean(pairs, axis=0)
            gap = ours[test, name] - theirs[test, name]
            # Where both miss alike, as many trials fall to either side: two standard errors of the difference.
            discordant = sum(a != b for a, b in pairs)
            ahead[test, name] = gap >= -2 * np.sqrt(max(1, discordant)) / trials
            results.add(
                f"power of {test}, {name}", round(float(ours[test, name]), 3),
                f"hyppo {theirs[test, name]:.3f}, less two standard errors", bool(ahead[test, name]), 
                f"{trials} trials of {ROWS} rows, {REPS} permutations",
            )  # fmt: skip
        mean, peer = (np.mean([v for (t, _), v in side.items() if t == test]) for side in (ours, theirs))
        results.add(
            f"mean power of {test}", round(float(mean), 3), f">= hyppo's {peer:.3f}", mean >= peer, "20 simulations"
        )


def timing(results):
    """500 permutations of 10 000 rows."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(10_000, 20)), random.normal(size=(10_000, 20))
    x, y = random.normal(size=(10_000, 1)), random.normal(size=(10_000, 1))
    mmd(X[:600], Y[:600]), hsic(x[:1200], y[:1200], permutations=9)
    for name, run in {
        "mmd, 5000 and 5000 rows, 20 columns": lambda: mmd(X[:5000], Y[:5000]),
        "mmd, 10 000 and 10 000 rows, 20 columns": lambda: mmd(X, Y),
        "hsic, 10 000 rows, one column each": lambda: hsic(x, y),
        "hsic, 10 000 rows, 20 columns each": lambda: hsic(X, Y),
    }.items():
        begin, cpu = time.perf_counter(), time.process_time()
        found = run()
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        note = f"{cpu:.1f} s of CPU, {len(found.kernels)} kernels, missing trace {found.missing_trace:.2g}"
        results.add(f"seconds of {name}", round(seconds, 2), "<= 10", seconds <= 10, note)


def _tables(files):
    """Tables as frames; of large ones some rows."""
    for path in files:
        if path.suffix == ".csv":
            frame = pd.read_csv(path, low_memory=False)
            yield path.stem, frame.sample(min(len(frame), 1000), random_state=0)


def drifting(results, files, splits):
    """Quiet on random halves of one file; on halves with one column moved, loud about that column."""
    from click.testing import CliRunner

    from mercer.cli import main

    quiet, runs, found, named, moves = 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.csv", Path(folder) / "new.csv"
        for name, frame in _tables(files):
            for seed in range(splits):
                order = np.random.default_rng([5, seed]).permutation(len(frame))
                halves = [frame.iloc[part] for part in np.array_split(order, 2)]
                for half, path in zip(halves, (old, new), strict=True):
                    half.to_csv(path, index=False)
                command = ["drift", str(old), str(new), "--permutations", "199", "-q", "--json"]
                done = CliRunner().invoke(main, command)
                if done.exit_code not in (0, 3):
                    results.add(f"drift on {name}", None, "runs", False, done.output[:100])
                    break
                runs, quiet = runs + 1, quiet + (done.exit_code == 0)
                numbers = [k for k in frame.select_dtypes("number").columns if frame[k].nunique() > 20]
                if numbers and seed == 0:
                    column = numbers[len(numbers) // 2]
                    halves[1].assign(**{column: halves[1][column] + frame[column].std()}).to_csv(new, index=False)
                    done = CliRunner().invoke(main, command)
                    moves += 1
                    found += done.exit_code == 3
                    named += done.exit_code == 3 and f'"{column}"' in done.output.partition('"columns"')[0]
    low = stats.binom.ppf(0.005, runs, 0.95) / runs
    results.add(
        "quiet on random halves", round(quiet / runs, 4), f">= {low:.3f}", quiet / runs >= low, f"{runs} splits"
    )
    results.add(
        "moved tables that are found",
        f"{found} of {moves}",
        f"{moves} of {moves}",
        found == moves,
        "by one standard deviation",
    )
    results.add(
        "moved columns that are named",
        f"{named} of {moves}",
        f"{moves} of {moves}",
        named == moves,
        "among those that moved",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", nargs="+", choices=["level", "power", "time", "drift"])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--power-trials", type=int, default=200)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--files", nargs="*", type=Path, default=[])
    given = parser.parse_args()
    results, wanted = _Shown(), given.only or ["level", "power", "time", "drift"]
    if "time" in wanted:
        timing(results)
    if "level" in wanted:
        level(results, given.trials)
    if "power" in wanted:
        power(results, given.power_trials)
    if "drift" in wanted and given.files:
        drifting(results, given.files, given.splits)
    results.write(given.json)


if __name__ == "__main__":
    main()
