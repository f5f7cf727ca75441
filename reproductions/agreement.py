"""Do the solvers keep their word? Against LIBSVM on public data, and against an independent examiner on random fits.

    python -m reproductions.agreement [--only unimi,spambase] [--json results.json]
    python -m reproductions.agreement --cases 10000 [--seed 0] [--jobs 2] [--limit 60] [--json results.json]
    python -m reproductions.agreement --case 123 [--seed 0]

The first compares on data sets (:mod:`.on_public_data`), the second draws random fits of every estimator, kernel and
unit and recomputes from definitions all that the models claim (:mod:`.examiner`), the third shows one of these again.
"""

from __future__ import annotations

import argparse

from . import on_public_data
from .examiner import report
from .results import Results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(on_public_data.CASES), help="which data sets, separated by commas")
    parser.add_argument("--cases", type=int, help="examine so many random fits instead")
    parser.add_argument("--case", type=int, help="examine one random fit again, and say more")
    parser.add_argument("--seed", type=int, default=0, help="which series of random fits")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one random fit")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    if options.case is not None:
        report.show(options.seed, options.case)
        return
    if options.cases is not None:
        outcomes = report.examine_many(options.cases, options.seed, options.jobs, options.limit)
        results = report.figures(outcomes, options.seed)
        report.print_report(outcomes, results, options.seed)
    else:
        results = Results()
        for name in options.only.split(","):
            on_public_data.compare(name, results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
