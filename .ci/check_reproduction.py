"""Whether published figures come out as published; how long that takes is not asked here."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    figures = Path(folder, "figures.json")
    subprocess.run([sys.executable, "-m", "reproductions.unimi", "--json", str(figures)], check=True)
    rows = json.loads(figures.read_text())
bad = [row for row in rows if not row["ok"] and not row["what"].startswith("seconds")]
print(f"reproduction: {len(rows) - len(bad)} of {len(rows)} figures as published")
sys.exit(f"not reproduced: {bad}" if bad else 0)
