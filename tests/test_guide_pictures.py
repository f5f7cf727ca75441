"""Pictures of the guide: each has a name of its own, and what a script has drawn is what it draws now."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"

CONF = """
import sys
sys.path.insert(0, {folder!r})
extensions = ["matplotlib.sphinxext.plot_directive", "myst_parser"]
plot_formats = ["svg"]


def setup(app):
    from plots import NumberedPlot

    app.add_directive("plot", NumberedPlot, override=True)
"""
PLOT = """
```{{eval-rst}}
.. plot::

   import matplotlib.pyplot as plt
   plt.figure().text(0.5, 0.5, "{word}")
```
"""


@pytest.mark.thorough
def test_a_page_shows_each_of_its_pictures(tmp_path):
    pytest.importorskip("myst_parser")
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text(CONF.format(folder=str(DOCS / "_ext")))
    (source / "index.md").write_text("# A page\n" + PLOT.format(word="one") + PLOT.format(word="two"))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(tmp_path / "built")]
    subprocess.run(command, check=True)
    pictures = sorted(path.name for path in (tmp_path / "built" / "_images").glob("*.svg"))
    assert pictures == ["index-1.svg", "index-2.svg"]
    page = (tmp_path / "built" / "index.html").read_text()
    assert all(picture in page for picture in pictures)


def test_the_picture_of_choices_is_up_to_date(tmp_path):
    (tmp_path / "_static").mkdir()
    script = tmp_path / "draw_choosing.py"
    script.write_text((DOCS / "draw_choosing.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True)
    assert (tmp_path / "_static" / "choosing.svg").read_bytes() == (DOCS / "_static" / "choosing.svg").read_bytes()
