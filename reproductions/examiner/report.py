"""Counts of what was found, beside their bars."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from ..results import Results
from .cases import draw_case
from .pool import run
from .verdicts import KINDS, Outcome, examine

#: How many of the fits that another method solves must converge.
CONVERGED = 0.995
#: Different examples listed for each kind of finding, and examples with the same text.
_LISTED, _ALIKE = 12, 4


def examine_number(seed: int, number: int) -> Outcome:
    """Case ``number`` of a series, drawn and judged; a mistake of the examiner's own is told as such."""
    case = draw_case(seed, number)
    try:
        return examine(case)
    except Exception as error:
        raise RuntimeError(f"the examiner failed on case {number} of seed {seed}: {case}") from error


def _guarded(seed: int, number: int) -> Outcome:
    try:
        return examine_number(seed, number)
    except Exception as error:
        return Outcome(number, "", "examiner", [("examiner", f"{error}: {error.__cause__!r}")])


def _lost(seed: int, number: int, why: str) -> Outcome:
    case = draw_case(seed, number)
    kind = "hang" if "time" in why else "crash"
    return Outcome(number, str(case), case.name, [(kind, why)], converged=False)


def _warm() -> None:
    """Compile what most cases need, before the watchdog looks."""
    seen: set[Any] = set()
    for number in range(60):
        case = draw_case(0, number)
        kind = (case.name, type(case.X), case.single, case.given)
        if kind not in seen:
            seen.add(kind)
            _guarded(0, number)


def examine_many(count: int, seed: int, jobs: int, limit: float) -> list[Outcome]:
    """The first ``count`` cases of a series, each within ``limit`` seconds."""
    outcomes = []
    for outcome in run(partial(_guarded, seed), _warm, partial(_lost, seed), list(range(count)), jobs, limit):
        outcomes.append(outcome)
        if len(outcomes) % 1000 == 0:
            print(f"… {len(outcomes)} of {count} cases", flush=True)
    return sorted(outcomes, key=lambda outcome: outcome.number)


def figures(outcomes: list[Outcome], seed: int) -> Results:
    """Every kind of finding as a figure with its bar."""
    results = Results()
    fitted = [outcome for outcome in outcomes if outcome.refusal is None]
    known = [outcome for outcome in fitted if outcome.reference]
    share = sum(bool(outcome.converged) for outcome in known) / max(1, len(known))
    note = f"{len(known)} fits that another method solves, of {len(outcomes)} of seed {seed}"
    results.add("examiner: converged where another method converges", share, CONVERGED, share >= CONVERGED, note)
    for kind, meaning in KINDS.items():
        cases = [outcome.number for outcome in outcomes if any(found == kind for found, _ in outcome.findings)]
        results.add(f"examiner: {kind}", len(cases), 0, not cases, f"{meaning}; cases {cases[:20]}")
    reasons = Counter(outcome.refusal for outcome in outcomes if outcome.refusal is not None)
    note = "; ".join(f"{count}× {why}" for why, count in reasons.most_common(8))
    results.add("examiner: refusals", sum(reasons.values()), None, True, note)
    return results


def print_report(outcomes: list[Outcome], results: Results, seed: int) -> None:
    """A table of the figures, then what was found, by kind, with the command that shows it again."""
    print(f"{'figure':<52} {'value':>9} {'bar':>7}  ok")
    for row in results.rows:
        value = f"{row['value']:.4f}" if isinstance(row["value"], float) else str(row["value"])
        bar = "" if row["bar"] is None else str(row["bar"])
        print(f"{row['what'].removeprefix('examiner: '):<52} {value:>9} {bar:>7}  {'yes' if row['ok'] else 'NO'}")
    spent = sum(outcome.seconds for outcome in outcomes)
    slow = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:3]
    print(
        f"{len(outcomes)} fits in {spent:.0f} s of fitting; slowest: {[(o.number, round(o.seconds, 1)) for o in slow]}"
    )
    for name in sorted({outcome.estimator for outcome in outcomes}):
        asked = [o for o in outcomes if o.estimator == name and o.reference is not None]
        reached = [o for o in asked if o.reference]
        if asked:
            both = sum(bool(o.converged) for o in reached)
            print(f"  {name}: another method solved {len(reached)} of {len(asked)}, it {both} of these")
    print("refusals: " + results.rows[-1]["note"])
    short = [outcome for outcome in outcomes if outcome.reference and not outcome.converged]
    _list("not converged where another method is", [(outcome, "; ".join(outcome.notes)) for outcome in short], seed)
    for kind in KINDS:
        _list(kind, [(o, text) for o in outcomes for found, text in o.findings if found == kind], seed)


def _list(kind: str, found: list[tuple[Outcome, str]], seed: int) -> None:
    if not found:
        return
    by = Counter(outcome.estimator for outcome, _ in found)
    print(f"\n{kind}: {len(found)} ({', '.join(f'{name} {count}' for name, count in by.most_common())})")
    print(f"  cases {sorted({outcome.number for outcome, _ in found})[:100]}")
    seen: Counter[str] = Counter()
    for outcome, text in found:
        seen[text] += 1
        if seen[text] <= _ALIKE and len(seen) <= _LISTED:
            print(f"  --seed {seed} --case {outcome.number}: {outcome.text[:230]}\n      {text}")


def show(seed: int, number: int) -> Outcome:
    """One case again, with all that was computed about it."""
    outcome = examine_number(seed, number)
    print(f"case {number} of seed {seed}: {outcome.text}")
    print(f"refused: {outcome.refusal}; converged: {outcome.converged}; another method: {outcome.reference}")
    for note in outcome.notes:
        print("  " + note)
    for kind, text in outcome.findings:
        print(f"  {kind.upper()}: {text}")
    return outcome
