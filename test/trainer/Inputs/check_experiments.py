"""check_experiments.py FOLDER: every configuration and figure of the repository is used and complete: figures name files that exist, every run of a figure
names a specification that exists, and every configuration with a specification is a figure's."""
import pathlib
import sys
import tomllib

folder = pathlib.Path(sys.argv[1])
runs = set()
for figure in sorted((folder / "figures").glob("*.toml")):
    for panel in tomllib.loads(figure.read_text())["panel"]:
        for run in panel["runs"]:
            runs.add((figure.parent / run["config"]).resolve())
assert len(runs) >= 40, len(runs)
with_attention = set()
for path in sorted([*(folder / "paper").glob("*.toml"), *(folder / "recall").glob("*.toml")]):
    settings = tomllib.loads(path.read_text())
    if "base" in settings:
        assert (path.parent / settings["base"]).is_file(), path
    if "attention" in settings:
        assert (path.parent / settings["attention"]["specification"]).is_file(), path
        assert len(path.read_text().splitlines()) <= 10, f"{path}: a run is a few lines"
        with_attention.add(path.resolve())
assert with_attention == runs, with_attention ^ runs
