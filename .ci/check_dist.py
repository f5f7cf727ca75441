"""What ``make dist`` has built: whole, without leftovers, and at work in a virtual environment of its own.

Usage: python .ci/check_dist.py dist
"""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What a source distribution holds that is in no repository.
MADE = ("PKG-INFO", "setup.cfg", "src/mercer.egg-info/")
#: What ``tools/ship_code.py`` puts into the wheel beside the files of the repository.
CODE = "mercer/runtime/machine_code/"
#: What need not travel.
AT_HOME = (".gitignore", ".github/", "MANIFEST.in")

#: What is tried with the wheel alone: the commands of a first day, then every public module.
COMMANDS = (
    "mercer --version",
    "mercer help kernels",
    "mercer train svc moons:200 -o moons.safetensors",
    "mercer run moons.safetensors moons:50",
    "mercer compare moons:200 --learners logistic,svc --no-trees -o report",
)
MODULES = """
import pkgutil, importlib, mercer
names = sorted(each.name for each in pkgutil.iter_modules(mercer.__path__) if not each.name.startswith("_"))
for name in names:
    importlib.import_module(f"mercer.{name}")
for name in mercer.__all__:
    getattr(mercer, name)
print(len(names), "public modules and", len(mercer.__all__), "names are there")
"""


def tracked() -> set[str]:
    """The files of the repository; none where this is no checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return set(listed.stdout.split("\n")) - {""}


def check_source(archive: Path) -> None:
    """All files of the repository, and no others but those that building makes."""
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in (each.name for each in opened if each.isfile())}
    wanted = {name for name in tracked() if not name.startswith(AT_HOME)}
    if not wanted:
        return
    missing = sorted(wanted - held)
    more = sorted(name for name in held - wanted if not name.startswith((*MADE, *AT_HOME)))
    if missing or more:
        raise SystemExit(f"{archive.name}: without {missing}; leftovers {more}")
    print(f"{archive.name}: {len(held)} files, as in the repository")


def check_wheel(wheel: Path) -> None:
    """Every file of the package: code, styles, scripts, pages, pictures, marks of types; and machine code."""
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
    compiled = {name for name in held if name.startswith(CODE)}
    if not compiled:
        raise SystemExit(f"{wheel.name}: without machine code; first fits would wait for a compiler")
    held -= compiled
    wanted = {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}
    if wanted and held != wanted:
        raise SystemExit(f"{wheel.name}: without {sorted(wanted - held)}; leftovers {sorted(held - wanted)}")
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {len(held)} files and {len(compiled)} of machine code, {size:.1f} MB")


def try_wheel(wheel: Path) -> None:
    """Install the wheel where nothing else is, and use it as on a first day."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
        binaries = home / "venv" / "bin"
        subprocess.run([binaries / "pip", "install", "--quiet", "--no-compile", wheel.resolve()], check=True)
        for command in COMMANDS:
            print(f"$ {command}", flush=True)
            program, *words = command.split()
            done = subprocess.run([binaries / program, *words], cwd=home, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
            print(done.stdout.strip().rpartition("\n")[2], flush=True)
        page = (home / "report" / "report.html").read_text("utf-8")
        if "<style" not in page or "<script" not in page:
            raise SystemExit("the report has lost its style or its script")
        subprocess.run([binaries / "python", "-I", "-c", MODULES], cwd=home, check=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    check_source(source)
    check_wheel(wheel)
    try_wheel(wheel)
