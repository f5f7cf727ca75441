"""A table for the page about the command line: visits of patients who do not exist, written to ``visits.csv``."""

import csv
import random

_COLUMNS = ("id", "patient", "seen", "age", "pressure", "smoker", "diagnosis")


def visits(number: int = 240) -> list[tuple[object, ...]]:
    """Three visits of each patient; every seventeenth pressure is missing."""
    draw = random.Random(0).gauss
    rows: list[tuple[object, ...]] = []
    for k in range(number):
        patient = k // 3
        age, smoker = 25 + patient * 37 % 50, patient % 3 == 0
        pressure = round(105 + 0.5 * age + 15 * smoker + draw(0, 8))
        ill = (age - 50) / 12 + (pressure - 135) / 10 + 1.5 * smoker + draw(0, 0.7) > 0.9
        day = f"{1 + k % 28:02d}/{1 + k % 12:02d}/2024"
        shown = pressure if k % 17 else ""
        rows.append((f"v{k:03d}", f"p{patient}", day, age, shown, "yes" if smoker else "no", "ill" if ill else "well"))
    return rows


if __name__ == "__main__":
    with open("visits.csv", "w", newline="") as file:
        csv.writer(file).writerows([_COLUMNS, *visits()])
