"""How pictures of the guide look: colours that everybody can tell apart (Okabe and Ito), and little ink around them."""

import warnings

import matplotlib as mpl
from cycler import cycler

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#555555", "#F0E442"]

STYLE = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "font.size": 9.5,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.85,
    "savefig.facecolor": "white",
}


def use_style(gallery_conf, script, when):
    """Every script of the gallery begins with this style, and a warning in one is an error."""
    mpl.rcParams.update(STYLE)
    warnings.resetwarnings()
    if when == "before":
        warnings.simplefilter("error")
    for old in (DeprecationWarning, PendingDeprecationWarning):
        warnings.simplefilter("ignore", old)
