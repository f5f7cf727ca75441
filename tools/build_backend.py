"""Build the package: by setuptools, and in a wheel the machine code that first fits on this machine need.

Code that cannot be made is compiled where it is needed, so nothing that goes wrong with it stops an installation.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  what else a build asks for

ROOT = Path(__file__).parents[1]
#: Seconds after which an installation goes on without.
_PATIENCE = 900


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Machine code is made by running what needs it, so a build needs what the package needs."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    return [*build_meta.get_requires_for_build_wheel(config_settings), *needed]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, str(ROOT / "tools" / "ship_code.py"), "--here"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        subprocess.run(command, env=environment, check=False, capture_output=True, timeout=_PATIENCE)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
