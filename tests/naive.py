"""Independent oracles: the definitions, one pair and one step at a time, in plain Python."""

from __future__ import annotations

from math import exp, log, pi, sin, sqrt, tanh

import numpy as np
from scipy import integrate

from mercer import kernels


def dot(x, z):
    return sum(float(a) * float(b) for a, b in zip(x, z, strict=True))


def distance(x, z):
    return sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)))


def matern(r, nu, length):
    """By the Matérn kernel's spectral mixture: a Gaussian of random precision, integrated numerically."""
    if r == 0:
        return 1.0
    # K_ν(s) = ∫₀^∞ exp(−s·cosh t)·cosh(νt) dt, and Γ by its own integral.
    s = sqrt(2 * nu) * r / length
    fine = {"epsabs": 0, "epsrel": 1e-11, "limit": 500}
    end = float(np.arccosh(max(800 / s, 800)))  # beyond it exp(−s·cosh t) is nothing
    bessel = integrate.quad(lambda t: exp(-s * np.cosh(t)) * np.cosh(nu * t), 0, end, **fine)[0]
    gamma = integrate.quad(lambda t: t ** (nu - 1) * exp(-t), 0, 60, **fine)[0]
    return 2 ** (1 - nu) / gamma * s**nu * bessel


def value(kernel, x, z):
    """k(x, z) for the kernels of ``cases.py``."""
    p = kernel.get_params(deep=False)
    match kernel:
        case kernels.Linear():
            return dot(x, z)
        case kernels.Polynomial():
            out = 1.0
            for _ in range(p["degree"]):
                out *= p["gamma"] * dot(x, z) + p["coef0"]
            return out
        case kernels.Gaussian():
            return exp(-p["gamma"] * distance(x, z) ** 2)
        case kernels.Laplacian():
            return exp(-p["gamma"] * sum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True)))
        case kernels.Matern():
            return matern(distance(x, z), p["nu"], p["length"])
        case kernels.RationalQuadratic():
            base = 1 + distance(x, z) ** 2 / (2 * p["alpha"] * p["length"] ** 2)
            return exp(-p["alpha"] * log(base))
        case kernels.Periodic():
            total = sum(sin(pi * (float(a) - float(b)) / p["period"]) ** 2 for a, b in zip(x, z, strict=True))
            return exp(-2 * total / p["length"] ** 2)
        case kernels.Cosine():
            lengths = sqrt(dot(x, x) * dot(z, z))
            return dot(x, z) / lengths if lengths else 0.0
        case kernels.Sigmoid():
            return tanh(p["gamma"] * dot(x, z) + p["coef0"])
        case kernels.Quadratic():
            return sum(x[i] * p["B"][i][j] * z[j] for i in range(len(x)) for j in range(len(z)))
        case kernels.RankOne():
            return float(sum(x)) * float(sum(z))
        case kernels.Function():
            return dot(x, z) ** 2
        case kernels.Sum():
            return value(p["left"], x, z) + value(p["right"], x, z)
        case kernels.Scaled():
            return p["scale"] * value(p["kernel"], x, z)
        case kernels.Product():
            return value(p["left"], x, z) * value(p["right"], x, z)
        case kernels.Power():
            return value(p["kernel"], x, z) ** p["exponent"]
        case kernels.After():
            return value(p["kernel"], [a / 2 for a in x], [a / 2 for a in z])
        case kernels.ScaledColumns() if np.ndim(p["weights"]) == 2:
            x, z = ([dot(direction, row) for direction in p["weights"]] for row in (x, z))
            return value(p["kernel"], x, z)
        case kernels.ScaledColumns():
            x, z = ([a * w for a, w in zip(row, p["weights"], strict=True)] for row in (x, z))
            return value(p["kernel"], x, z)
        case kernels.Normalised():
            lengths = sqrt(value(p["kernel"], x, x) * value(p["kernel"], z, z))
            return value(p["kernel"], x, z) / lengths if lengths else 0.0
        case kernels.Mixture():
            terms = zip(p["kernels"], p["weights"], p["scales"], strict=True)
            return sum(weight * value(k, x, z) / scale for k, weight, scale in terms)
    raise NotImplementedError(type(kernel))


def perceptron(K, y, epochs, bias=False):
    """The kernel Perceptron from its definition: coefficients, intercept, mistakes in each epoch."""
    z, b, mistakes = [0.0] * len(y), 0.0, []
    for _ in range(epochs):
        made = 0
        for t in range(len(y)):
            f = sum(z[j] * K[j][t] for j in range(len(y))) + b
            if y[t] * f <= 0:
                z[t] += y[t]
                b += y[t] if bias else 0.0
                made += 1
        mistakes.append(made)
        if made == 0:
            break
    return np.array(z), b, mistakes


def pegasos(X, y, lam, draws, slope, average):
    """Linear Pegasos by its update rule, on explicit vectors."""
    w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, i in enumerate(draws, start=1):
        g = -slope(y[i] * (X[i] @ w))
        w = (1 - 1 / t) * w + g * y[i] * X[i] / (lam * t)
        total += w
    return total / len(draws) if average else w


def projected_pegasos(X, y, lam, batches):
    """Pegasos with mini-batches and projection, last iterate, by its update rule."""
    w = np.zeros(X.shape[1])
    for t, batch in enumerate(batches, start=1):
        step = sum((y[i] * X[i] for i in batch if y[i] * (X[i] @ w) < 1), start=np.zeros(X.shape[1]))
        w = (1 - 1 / t) * w + step / (lam * t * len(batch))
        norm = np.linalg.norm(w)
        if norm > 0:
            w = min(1.0, 1 / (np.sqrt(lam) * norm)) * w
    return w
