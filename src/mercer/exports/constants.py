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
FACTORS = "Products of columns: the places of the factors of each."
ENDS = "Where the factors of each product begin."
PLACES = "Places of the columns that are used."
SLOPES = "Slopes of the sigmoid that makes a probability of each score."
LEVELS = "Levels of the sigmoid that makes a probability of each score."
POINTS = "Scores at which the probability is known."
VALUES = "Probabilities at these scores, and between them."
PATH = (
    "Updates of the perceptron: the support row of each.",
    "Updates of the perceptron: what each adds.",
    "Updates of the perceptron: the bias after each.",
    "Updates of the perceptron: the share of votes of each.",
)
