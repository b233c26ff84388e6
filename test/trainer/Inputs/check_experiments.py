"""check_experiments.py FOLDER: every configuration and figure of the repository is used, complete and valid: figures name files that exist, every run of a
figure trains the attention that it is called after, with the sizes and the training of the paper or the heads of its name, every configuration with a specification is a figure's, and `taylor-train figure NAME --list` takes each figure at each
scale and names the runs of its panels: what it lists, it has checked. At the tiny scale the panels of Figure 3 are as different from each other and from Figure 2
as the paper's."""
import pathlib
import re
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
assert sorted(figures) == ["figure-2", "figure-3", "figure-4", "figure-5", "figure-6", "figure-6-relu", "figure-recall"], figures
paper = set().union(*(runs_of(figure) for name, figure in figures.items() if name != "figure-recall"))
assert len(paper) >= 40, len(paper)
assert len(runs_of(figures["figure-recall"])) == 22
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

# Which attention each run of the paper trains, written down once more; SERIES-order-N is `taylor` of the feature map with that order.
SPECIFICATIONS = {
    "softmax": "softmax", "norm": "softmax-norm-l2", "gate": "softmax-count-gate",
    "linear-elu": "linear-elu", "linear-relu": "linear-relu", "linear-cosine": "linear-cosine",
    "detached": "softmax-mass-detached", "count": "softmax-count", "detached-gate": "softmax-mass-detached-gate", "gate-alone": "softmax-gate",
    "clamped": "softmax-mass-clamped",
    "input-gate": "input-gate-count", "gates": "gates-count", "relu-gate": "relu-count-gate", "relu-gate-alone": "relu-gate",
    "rms": "softmax-norm-rms", "layernorm": "softmax-count-layernorm", "count-rms": "softmax-count-rms", "count-norm": "softmax-count-norm-scaled",
    "relu-norm": "relu-norm-l2", "relu-clamped-norm": "relu-clamped-norm-l2", "relu-rms": "relu-norm-rms", "relu-layernorm": "relu-count-layernorm",
    "clamped-norm": "softmax-clamped-norm-l2",
}
SERIES = {f"{series}-order-{order}": (f"{series}-taylor", order) for series in ("softmax", "cosine", "relu", "elu") for order in (0, 1, 2, 4, 10)}
# Text and size, the name's beginning: what differs from the paper's small model on two GPUs.
SIZES = {
    "fineweb-large-depth": {"model": {"layers": 60, "heads": 32}},
    "fineweb-large": {"model": {"hidden": 3072, "intermediate": 6144}, "data": {"groups": 4}, "optimizer": {"shard": True}},
    "fineweb-context-4096": {"train": {"context": 4096}, "data": {"groups": 6}},
    "fineweb": {}, "pile": {}, "slimpajama": {},
}


def take_attention(path, variant, settings):
    """The specification; it and its order, which no longer stand in the settings, are those of the variant."""
    specification, order = SERIES.get(variant) or (SPECIFICATIONS[variant], None)
    specification = (folder / f"../specs/{specification}.mlir").resolve()
    attention = settings.pop("attention")
    assert (path.parent / attention.pop("specification")).resolve() == specification, (path, attention)
    assert attention == ({} if order is None else {"parameters": {"order": order}}), (path, attention)
    return specification


seen = set()
for path in sorted((folder / "paper").glob("*.toml")):
    settings = settings_of(path)
    if "attention" not in settings:
        continue
    size = next(size for size in SIZES if path.stem.startswith(size + "-"))
    variant = path.stem.removeprefix(size + "-")
    specification = take_attention(path, variant, settings)
    want = {section: dict(values) for section, values in SIZES[size].items()}
    if re.search(r"%\w+_gate:", specification.read_text()):  # as the paper clips: where there are gates, and nowhere else
        want.setdefault("optimizer", {})["clip"] = 1.0
    text = size.split("-")[0]
    want["data"] = {"tokenizer": "../../../data/llama-2/tokenizer.model", "path": f"../../../data/{text}"} | want.get("data", {})
    assert settings == want, (path, settings, want)
    base = path
    while "base" in (table := tomllib.loads(base.read_text())):
        base = base.parent / table["base"]
    assert table["preset"] == "paper", path  # whose values ConfigTest holds
    seen.add(variant)
assert seen == {*SPECIFICATIONS, *SERIES}, seen ^ {*SPECIFICATIONS, *SERIES}

# The runs of recall, by their names: an attention of the paper or a series with its order, and heads where they are not the base's.
base = settings_of(folder / "recall/recall.toml")
for path in runs_of(figures["figure-recall"]):
    variant, heads = re.fullmatch(r"(.+?)(?:-heads-(\d+))?", path.stem).groups()
    settings = settings_of(path)
    take_attention(path, variant, settings)
    assert settings == base | {"model": base["model"] | ({"heads": int(heads)} if heads else {})}, (path, settings)
