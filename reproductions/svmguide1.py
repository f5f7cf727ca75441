"""The three accuracies of the practical guide to support vector classification, on its own data.

    python -m reproductions.svmguide1 [--json results.json]

Unscaled with default parameters 66.925 %, scaled 96.15 %, scaled and tuned 96.875 %. The second is one row of 4000 off:
LIBSVM at its default tolerance 1e-3 gets 96.15 %, at 1e-4 and below, as at the exact optimum here, 96.125 %.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MinMaxScaler

from mercer import SVC
from mercer.kernels import Gaussian

from .data import data_path
from .results import Results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    paths = [data_path(f"svmguide1/svmguide1{part}.bz2") for part in ("", ".t")]
    if paths[0] is None or paths[1] is None:
        return
    (X, y), (X_test, y_test) = (load_svmlight_file(str(path), n_features=4) for path in paths)
    X, X_test = X.toarray(), X_test.toarray()
    scale = MinMaxScaler((-1, 1)).fit(X)
    results = Results()
    for what, prepare, C, gamma, published in (
        ("unscaled, C=1, γ=1/4", lambda rows: rows, 1, 0.25, 66.925),
        ("scaled, C=1, γ=1/4", scale.transform, 1, 0.25, 96.15),
        ("scaled, C=2, γ=2", scale.transform, 2, 2, 96.875),
    ):
        model = SVC(Gaussian(gamma=gamma), C=C).fit(prepare(X), y)
        accuracy = 100 * model.score(prepare(X_test), y_test)
        same = abs(accuracy - published) < 5e-4
        print(f"{what:<22} {accuracy:.3f} %  published {published:.3f} %  {'=' if same else 'DIFFERS'}")
        undecided = int((abs(model.decision_function(prepare(X_test))) < model.tol).sum())
        note = f"{len(model.support_)} support vectors, gap {model.duality_gap_[0]:.1e}, "
        note += f"{undecided} of {len(y_test)} test rows nearer to the boundary than the tolerance"
        results.add(f"svmguide1 {what}", round(accuracy, 3), published, same, note)
    results.write(options.json)


if __name__ == "__main__":
    main()
