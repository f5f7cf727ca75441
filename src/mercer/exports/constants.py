"""What the numbers in exported files are, in words that stand above them."""

from __future__ import annotations

SUPPORT_ROWS = "Support rows: training rows, as the steps before the machine have prepared them."
NUMBERS_OF_SUPPORT = "A number of each support row that its similarities are multiplied by."
COEFFICIENTS = "Coefficients: a line for each support row, a number for each score."
WEIGHTS = "Weights: a line for each number of a row, a number for each score."
INTERCEPTS = "Intercepts: what each score begins with."
SCALING = (
    "Subtracted from each column: means, where columns are standardised.",
    "What each column is multiplied by then: 1 / standard deviation, or 1 / range.",
    "Added to each column at last.",
)
FILLED = "What stands in for gaps in each column, such as its median; NaN where nothing does."
KNOWN = "Values of a column that are known, in the order of their numbers."
PLACES_OF_ONES = "Where each known value has its 1; -1 for those that have none."
TERMS = "Words, neighbours or substrings that are counted in a text."
IMPORTANCE = "How much each of them counts: the less the more training texts have it."
EXPONENTS = "The exponent of each column."
FACTORS = "Products of columns: the places of the factors of each."
ENDS = "Where the factors of each product begin."
PLACES = "Places of the columns that are used."
SLOPES = "Slopes of the sigmoid that makes a probability of each score."
LEVELS = "Levels of the sigmoid that makes a probability of each score."
POINTS = "Scores at which the probability is known."
VALUES = "Probabilities at these scores, and between them."
#: Numerators and denominators of the quantiles of the normal distribution, the highest power first: in the middle, and
#: beyond (M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988, 477-484).
NORMAL_ABOVE = [
    [2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
     133.14166789178438, 3.3871328727963665],
    [7.745450142783414e-4, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
     5.769497221460691, 4.630337846156546, 1.4234371107496835],
]  # fmt: skip
NORMAL_BELOW = [
    [5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586596, 5394.196021424751, 687.1870074920579,
     42.31333070160091, 1.0],
    [1.0507500716444169e-9, 5.475938084995345e-4, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
     1.6763848301838038, 2.053191626637759, 1.0],
]  # fmt: skip
NORMAL = "Polynomials of the quantiles of the normal distribution, the highest power first."
PATH = (
    "Updates of the perceptron: the support row of each.",
    "Updates of the perceptron: what each adds.",
    "Updates of the perceptron: the bias after each.",
    "Updates of the perceptron: the share of votes of each.",
)
