"""How the guide is built: ``make docs``."""

import inspect
import re
import sys
from pathlib import Path

import mercer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "mercer"
author = "the mercer developers"
copyright = "the mercer developers, BSD 3-clause licence"
version = release = mercer.__version__

extensions = [
    "commands",  # ours: shell commands that run when the guide is built
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx-mathjax-offline",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's order is a function, which cannot be stored

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Blocks of the pages are run and compared; examples of docstrings are run by the tests already.
doctest_test_doctest_blocks = ""
doctest_global_setup = "import warnings; warnings.simplefilter('ignore')"

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {
    "at_the_top": mercer.__all__,  # described once, as mercer.NAME
    # Of estimators, what people call; solvers and searches call more.
    "for_users": [
        "decision_function", "fit", "fit_predict", "pair_scores", "partial_fit", "predict", "predict_interval",
        "predict_log_proba", "predict_proba", "predict_proba_interval", "score", "score_samples",
        "staged_decision_function", "staged_predict", "transform",
    ],
}  # fmt: skip
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = True
plot_formats = [("svg", 100)]
plot_rcparams = {"figure.figsize": (6.4, 4.0), "figure.autolayout": True, "savefig.facecolor": "white"}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 5,
    "parallel": 2,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "picture_style.use_style"),
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "subsection_order": [
        f"../examples/{folder}"
        for folder in ("first_steps", "learners", "kernels", "structures", "honest_answers", "scale")
    ],
    "thumbnail_size": (640, 280),
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": True,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
# Pages that stand alone have nothing to list beside them, and take the width.
html_sidebars = {page: [] for page in ("choosing", "command_line", "play", "reports", "start", "words")}
html_show_sourcelink = False


def _as_called(app, what, name, thing, options, signature, returned):
    """The parameters of a class as Python itself sees them: ``__new__`` takes any, so as to refuse some in words."""
    if what == "class" and "**given" in (signature or ""):
        seen = inspect.signature(thing)
        plain = [each.replace(annotation=each.empty) for each in seen.parameters.values()]
        return str(seen.replace(parameters=plain, return_annotation=seen.empty)), None
    return None


def _without_foreign_links(app, what, name, thing, options, lines):
    """Methods that come from scikit-learn point to pages of its own guide."""
    if str(getattr(thing, "__module__", "")).startswith("sklearn"):
        lines[:] = [re.sub(r":(?:ref|term):`([^`<]*?)(?:\s*<[^>]*>)?`", r"``\1``", line) for line in lines]


def setup(app):
    """Let pages be read in parallel: the extension that brings MathJax along only adds a file. Number pictures."""
    from plots import NumberedPlot

    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
    app.add_directive("plot", NumberedPlot, override=True)
    app.connect("autodoc-process-signature", _as_called)
    app.connect("autodoc-process-docstring", _without_foreign_links)
