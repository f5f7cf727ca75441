"""What a parameter of scikit-learn's machines is called here: who types a name out of habit gets the remedy."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["remedy_for"]

_OF_THE_KERNEL = "it belongs to the kernel; write {machine}('{kernel}({name}=...)'), and kernel__{name} in a search"
#: For each name, what is said of machines that have a parameter (of all, where that is empty): the first that fits.
_OF_LIBRARIES: dict[str, tuple[tuple[str, str], ...]] = {
    "C": (
        ("lam", "lam weighs ½‖w‖² against the mean loss; write lam=1 / (C * n) for n rows"),
        ("nu", "nu takes its place, a share of the rows"),
        ("epochs", "nothing is penalised; leave it out"),
    ),
    "alpha": (("", "alpha of SGDClassifier is lam of Pegasos, alpha of KernelRidge n·lam of KernelRegressor"),),
    "break_ties": (("", "leave it out; where votes are equal the sums of scores always decide"),),
    "cache_size": (("", "memory='1GB' says what may be kept"),),
    "coef0": (("", _OF_THE_KERNEL),),
    "decision_function_shape": (("", "decision_function has a column for each class, pair_scores one for each pair"),),
    "degree": (("", _OF_THE_KERNEL),),
    "dual": (("", "leave it out, it changes no result"),),
    "epsilon": (("", "mercer.SVR has it"),),
    "eta0": (("rate", "the step is rate"), ("", "mercer.Perceptron has a rate")),
    "gamma": (("", _OF_THE_KERNEL),),
    "max_iter": (
        ("epochs", "passes over the rows are epochs"),
        ("steps", "steps says how many are taken; a pass over n rows is n of them"),
    ),
    "multi_class": (("strategy", "strategy='ovr' or 'ovo'"),),
    "n_jobs": (("", "all cores are used; OMP_NUM_THREADS says otherwise"),),
    "nu": (
        ("epsilon", "it belongs to mercer.NuSVR"),
        ("", "it belongs to mercer.NuSVC, of numbers mercer.NuSVR, of novelties mercer.OneClassSVM"),
    ),
    "penalty": (("", "all machines penalise ½‖w‖²"),),
    "probability": (("", "wrap the machine, mercer.Calibrated({machine}(...)), for probabilities"),),
    "random_state": (("", "leave it out, nothing is drawn"),),
    "shrinking": (("", "leave it out, it changes no result"),),
    "shuffle": (
        ("order", "order='file' takes the rows as they stand"),
        ("sampling", "sampling says how rows are drawn"),
    ),
    "tol": (
        ("epochs", "it ends after a pass without mistakes, or after as many as epochs says"),
        ("steps", "it ends after as many steps as steps says; duality_gap_ tells how good the result is"),
    ),
    "verbose": (("", "leave it out; status_ and other attributes tell how a fit ended"),),
}


def remedy_for(machine: str, given: Iterable[str], known: Iterable[str]) -> str | None:
    """What to write in the place of the first parameter that the machine has not, where that is known.

    Examples
    --------
    >>> remedy_for("SVC", ["C", "gamma"], ["C", "kernel"])
    "SVC has no parameter 'gamma': it belongs to the kernel; write SVC('gaussian(gamma=...)'), and kernel__gamma in a
    search."
    """
    parameters = {"", *known}
    for name in given:
        if name in parameters:
            continue
        said = next((text for having, text in _OF_LIBRARIES.get(name, ()) if having in parameters), None)
        if said is not None:
            kernel = "gaussian" if name == "gamma" else "polynomial"
            return f"{machine} has no parameter {name!r}: {said.format(machine=machine, kernel=kernel, name=name)}."
    return None
