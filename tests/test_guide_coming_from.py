"""What people type who know another library."""

import re

import pytest

import mercer


@pytest.mark.parametrize(
    ("machine", "given", "said"),
    [
        ("SVC", {"gamma": 0.1}, r"it belongs to the kernel; write SVC\('gaussian\(gamma=\.\.\.\)'\)"),
        ("SVR", {"degree": 3}, r"write SVR\('polynomial\(degree=\.\.\.\)'\), and kernel__degree in a search"),
        ("SVC", {"C": 1, "probability": True}, r"wrap the machine, mercer\.Calibrated\(SVC\(\.\.\.\)\)"),
        ("NuSVC", {"decision_function_shape": "ovo"}, "pair_scores one for each pair"),
        ("Pegasos", {"alpha": 0.1}, "alpha of SGDClassifier is lam of Pegasos"),
        ("Perceptron", {"eta0": 0.1}, "the step is rate"),
        ("SVC", {"break_ties": True}, "the sums of scores always decide"),
        ("SVC", {"verbose": True}, "leave it out"),
        ("SVC", {"nu": 0.1}, r"it belongs to mercer\.NuSVC"),
        ("SVR", {"nu": 0.1}, r"it belongs to mercer\.NuSVR"),
        ("NuSVR", {"epsilon": 0.1}, r"mercer\.SVR has it"),
        ("NuSVC", {"C": 1}, "nu takes its place"),
        ("KernelClassifier", {"C": 1}, r"write lam=1 / \(C \* n\)"),
        ("KernelClassifier", {"random_state": 0}, "nothing is drawn"),
        ("Perceptron", {"C": 1}, "nothing is penalised"),
        ("Perceptron", {"max_iter": 5}, "passes over the rows are epochs"),
        ("Perceptron", {"tol": None}, "after a pass without mistakes"),
        ("Perceptron", {"shuffle": False}, "order='file'"),
        ("Pegasos", {"max_iter": 5}, "a pass over n rows is n of them"),
        ("Pegasos", {"tol": None}, "as many steps as steps says"),
        ("Pegasos", {"T": 500}, "steps says how many"),
        ("Pegasos", {"eta": 0.1}, r"1 / \(lam \* t\)"),
        ("Perceptron", {"eta": 0.1}, "the step is rate"),
        ("Perceptron", {"max_epoch": 20}, "passes over the rows are epochs"),
        ("Perceptron", {"sigma": 1}, r"write Perceptron\('gaussian\(sigma=\.\.\.\)'\)"),
        ("Perceptron", {"n": 3}, r"write Perceptron\('polynomial\(degree=\.\.\.\)'\)"),
    ],
)
def test_names_of_scikit_learn_are_refused_with_the_remedy(machine, given, said):
    with pytest.raises(TypeError, match=f"^{machine} has no parameter .*{said}.*\\.$"):
        getattr(mercer, machine)(**given)


def test_names_that_nobody_has_are_refused_as_python_does():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        mercer.SVC(colour="red")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LinearSVC", r"use mercer\.SVC\('linear', strategy='ovr'\)"),
        ("KernelRidge", r"use mercer\.KernelRegressor"),
        ("GridSearchCV", r"use mercer\.KernelSearchCV"),
        ("LogisticRegression", r"use mercer\.KernelClassifier\('linear'"),
    ],
)
def test_machines_of_scikit_learn_are_missing_with_the_remedy(name, said):
    assert not hasattr(mercer, name)
    with pytest.raises(AttributeError, match=f"^module 'mercer' has no attribute '{name}'; {said}.*\\.$"):
        getattr(mercer, name)


def test_what_is_named_in_the_place_of_others_is_there():
    for said in mercer._ELSEWHERE.values():
        for name in re.findall(r"mercer\.(\w+)", said):
            assert name in mercer.__all__


def test_other_names_are_missing_as_python_says():
    with pytest.raises(AttributeError, match=r"^module 'mercer' has no attribute 'colour'$"):
        mercer.colour  # noqa: B018
