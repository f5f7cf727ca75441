"""
Chains and rings of atoms
=========================

A graph is a number of nodes, the edges between them and, here, the kind of each atom. Kernels on
graphs compare them as they are: by the surroundings of atoms (Weisfeiler and Lehman), by distances
between atoms, or by small subgraphs. The molecules are generated: chains, rings of five and rings
of six, with atoms and side chains at random.
"""

# %%
# All have eight to ten atoms, three quarters of them carbon. What the atoms are tells nothing
# about the shape.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from scipy.sparse.csgraph import shortest_path
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.kernels import Graphlet, Normalised, ShortestPath, WeisfeilerLehman

rng = np.random.default_rng(1)
CORES = {"chain": 0, "ring of 5": 5, "ring of 6": 6}


def molecule(core):
    """A ring of so many atoms (0: a chain of six), and further atoms attached to random ones."""
    n, size = int(rng.integers(8, 11)), core or 6
    edges = [[k, (k + 1) % size] for k in range(size if core else size - 1)]
    for atom in range(size, n):
        bonds = np.bincount(np.ravel(edges), minlength=atom)
        edges.append([int(rng.choice(np.flatnonzero(bonds < 3))), atom])
    return n, edges, rng.choice(["C", "N", "O"], n, p=[0.74, 0.13, 0.13]).tolist()


shapes = np.repeat(list(CORES), 150)
molecules = [molecule(CORES[shape]) for shape in shapes]

# %%
# Shares of molecules told right on held-out folds. Atoms alone (no round of refinement) are no
# better than a guess. Surroundings see that there is a ring, and distances how far atoms can be
# apart; together they tell nearly all.

kernels = {
    "atoms alone": WeisfeilerLehman(h=0),
    "surroundings": WeisfeilerLehman(h=2),
    "subgraphs of four": Graphlet(4),
    "shortest paths": ShortestPath(),
    "surroundings + paths": WeisfeilerLehman(h=2) + ShortestPath(),
}
machines = {name: SVC(Normalised(kernel), C=100) for name, kernel in kernels.items()}
scores = [100 * cross_val_score(one, molecules, shapes, cv=5) for one in machines.values()]

# %%
# Drawn so that distances on paper are near the numbers of bonds in between. Orange is oxygen, blue
# is nitrogen.


def draw(ax, graph):
    n, edges, atoms = graph
    bonds = np.zeros((n, n))
    bonds[tuple(np.transpose(edges))] = 1
    first, second = np.triu_indices(n, 1)
    between = shortest_path(bonds, directed=False)[first, second]

    def stress(flat):
        spots = flat.reshape(n, 2)
        return np.square(np.linalg.norm(spots[first] - spots[second], axis=1) / between - 1).sum()

    found = [minimize(stress, rng.normal(size=2 * n)) for _ in range(3)]
    spots = min(found, key=lambda each: each.fun).x.reshape(n, 2)
    for edge in edges:
        ax.plot(*spots[edge].T, color="0.6", zorder=1)
    colours = [{"C": "0.3", "N": "C0", "O": "C1"}[atom] for atom in atoms]
    ax.scatter(*spots.T, c=colours, s=50, zorder=2, edgecolors="white")
    ax.axis("off")
    ax.set(aspect="equal")
    ax.margins(0.15)


figure, axes = plt.subplot_mosaic("abg;cdg;efg", figsize=(9.5, 4.6), width_ratios=(1, 1, 2))
for names, shape in zip(("ab", "cd", "ef"), CORES):
    for name, k in zip(names, np.flatnonzero(shapes == shape)):
        draw(axes[name], molecules[k])
    axes[names[0]].set_title(shape, loc="left")
means, spreads = np.mean(scores, axis=1), np.std(scores, axis=1)
axes["g"].barh(list(kernels), means, xerr=spreads, color="C0")
axes["g"].axvline(100 / 3, color="k", linewidth=0.8, linestyle=":")
axes["g"].set(xlabel="% of molecules right (dotted: guessing)", xlim=(0, 100))
axes["g"].invert_yaxis()
plt.show()
