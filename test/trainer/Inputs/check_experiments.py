"""check_experiments.py FOLDER: every configuration and figure of the repository is used, complete and valid: figures name files that exist, every run of a
figure names a specification that exists, every configuration with a specification is a figure's, and `taylor-train figure NAME --list` takes each figure at each
scale and names the runs of its panels."""
import pathlib
import subprocess
import sys
import tempfile
import tomllib

folder = pathlib.Path(sys.argv[1])


def runs_of(figure, scale=None):
    panels = tomllib.loads(figure.read_text())["panel"]
    own = {panel.get("title"): panel["runs"] for panel in panels if "runs" in panel}
    chosen = [panel for panel in panels if scale is None or scale in panel.get("scales", [scale])]
    return {(figure.parent / run["config"]).resolve() for panel in chosen for run in panel.get("runs") or own[panel["runs_of"]]}


def listed(figure, scale):
    name = figure.stem.removeprefix("figure-")
    with tempfile.TemporaryDirectory() as out:
        command = ["taylor-train", "figure", name, "--list", "--scale", scale, "--experiments", folder, "--out", f"{out}/runs"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert result.returncode == 0, (command, result.stderr)
        assert not list(pathlib.Path(out).iterdir()), "a list makes nothing"
    lines = [line.split() for line in result.stdout.splitlines()]
    assert all(state == "missing" for state, _ in lines), lines
    return {pathlib.Path(run).name for _, run in lines}


figures = {figure.stem: figure for figure in sorted((folder / "figures").glob("*.toml"))}
assert sorted(figures) == ["figure-2", "figure-3", "figure-4", "figure-5", "figure-6", "figure-recall"], figures
paper = set().union(*(runs_of(figure) for name, figure in figures.items() if name != "figure-recall"))
assert len(paper) >= 40, len(paper)
assert len(runs_of(figures["figure-recall"])) == 16
scales = sorted(path.stem for path in (folder / "scales").glob("*.toml"))
assert scales == ["paper", "tiny"], scales
for figure in figures.values():
    for scale in scales:
        want = {path.stem + "-seed1" for path in runs_of(figure, scale)}
        assert listed(figure, scale) == want, (figure, scale, want)

with_attention = set()
for path in sorted([*(folder / "paper").glob("*.toml"), *(folder / "recall").glob("*.toml")]):
    settings = tomllib.loads(path.read_text())
    if "base" in settings:
        assert (path.parent / settings["base"]).is_file(), path
    if "attention" in settings:
        assert (path.parent / settings["attention"]["specification"]).is_file(), path
        assert len(path.read_text().splitlines()) <= 10, f"{path}: a run is a few lines"
        with_attention.add(path.resolve())
runs = set().union(*(runs_of(figure) for figure in figures.values()))
assert with_attention == runs, with_attention ^ runs
