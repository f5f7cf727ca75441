"""The model tests of AutoGluon and TabArena, on data that they make: ``python -m benchmarks.tabarena [--json F]``."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path

from autogluon.tabular.testing import FitHelper

from reproductions.results import Results

from .info import mercer_info
from .model import MercerModel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results, kinds = Results(), MercerModel._supported_problem_types
    file = Path(options.json).resolve() if options.json else None
    for problem in kinds:
        with tempfile.TemporaryDirectory() as home, contextlib.chdir(home):
            FitHelper.verify_model(MercerModel, model_hyperparameters={}, problem_types=[problem])
        results.add(f"AutoGluon's tests of models: {problem}", 1, 1, True, "alone, in a bag, and fitted again")
    configs = len(mercer_info.search_space.generate_all_configs_lst(num_random_configs=3))
    results.add("settings that TabArena's generator makes", configs, 4, configs == 4, "the default and three")
    print(f"{results.count_ok()} of {len(kinds) + 1} as they should be")
    results.write(file)


if __name__ == "__main__":
    main()
