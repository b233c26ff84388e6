"""check_experiments.py FOLDER: every configuration and figure of the repository is used, complete and valid: figures name files that exist, every run of a
figure names a specification that exists, every configuration with a specification is a figure's, and `taylor-train figure NAME --list` takes each figure at each
scale and names the runs of its panels: what it lists, it has checked. At the tiny scale the panels of Figure 3 are as different from each other and from Figure 2
as the paper's."""
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


def settings_of(path):
    """Section by section, over the base's."""
    table = tomllib.loads(path.read_text())
    merged = settings_of(path.parent / table["base"]) if "base" in table else {}
    for section, values in table.items():
        if isinstance(values, dict):
            merged[section] = merged.get(section, {}) | values
    return merged


def sizes_of(figure, scale):
    """What each panel's runs have in common, of what a size is."""
    panels, found = tomllib.loads(figure.read_text())["panel"], []
    own = {panel.get("title"): panel["runs"] for panel in panels if "runs" in panel}
    for panel in (panel for panel in panels if scale in panel.get("scales", [scale])):
        over, sizes = [settings_of(folder / f"scales/{scale}.toml")], set()
        if "settings" in panel:
            over.append(settings_of(figure.parent / panel["settings"]))
        for run in panel.get("runs") or own[panel["runs_of"]]:
            layers = [settings_of(figure.parent / run["config"]), *over]
            get = lambda section, key: next((one[section][key] for one in reversed(layers) if key in one.get(section, {})), None)
            sizes.add((get("model", "hidden"), get("model", "layers"), get("model", "heads"), get("train", "context")))
        (size,) = sizes
        found.append(size)
    return found


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

sizes = sizes_of(figures["figure-3"], "tiny") + sizes_of(figures["figure-2"], "tiny")
assert len(sizes) == len(set(sizes)) == 4, sizes
assert not any("settings" in panel for panel in tomllib.loads(figures["figure-3"].read_text())["panel"] if "tiny" not in panel["scales"])
over = {(path.parent / panel["settings"]).resolve() for path in figures.values() for panel in tomllib.loads(path.read_text())["panel"] if "settings" in panel}
assert over == {path.resolve() for path in folder.glob("scales/*/*.toml")}, over

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
