# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of pages that are drawn from programs, headers, tests and measurements: what stands in a page as `<!-- generated: NAME -->`."""
import ast
import json
import re
import subprocess
import sys


def table(header, rows):
    cells = lambda row: "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n"
    return cells(header) + "|" + "---|" * len(header) + "\n" + "".join(map(cells, rows))


def settings(site):
    """The trainer's settings, from taylor-train itself."""
    text = subprocess.run([site.program("taylor-train"), "--help-settings"], capture_output=True, text=True, check=True).stdout
    parts = []
    for group in re.split(r"\n(?=\w+: )", text.strip()):
        title, *lines = group.splitlines()
        name, _, words = title.partition(": ")
        rows = [re.fullmatch(r"  (\S+) = (.*?)(?:  +(\S.*))?", line) for line in lines if line.strip()]
        if not all(rows) or not rows:
            sys.exit(f"error: expected lines `  name = value   words` of taylor-train --help-settings, but got a group {title!r} of {lines!r}")
        # A value may be as long as its column: then one space is before the words.
        parts.append(f"## {name}\n\n{words[:1].upper()}{words[1:]}.\n\n" + table(("setting", "default", "meaning"), [(f"`{row[1]}`", f"`{row[2]}`", row[3] or "") for row in rows]))
    return "\n".join(parts)


def c_header(site):
    """runtime/taylor.h, a section for each declaration."""
    text = (site.root / "runtime/taylor.h").read_text(encoding="utf-8")
    body = re.search(r"extern \"C\" \{\n#endif\n(.*)\n#ifdef __cplusplus\n\}", text, re.S)[1]
    intro = re.search(r"/\* (Taylor's C interface.*?)\*/", text, re.S)[1]
    parts = [f"```c\n{text[:text.index('#ifndef')].split(chr(10), 1)[1].strip()}\n```\n"] if intro else []
    for chunk in re.split(r"\n\n+", body.strip()):
        code = re.sub(r"^\s*(//[^\n]*\n|/\*.*?\*/\s*)*", "", chunk, flags=re.S)
        if not code.strip():
            continue
        name = re.search(r"\(\*(\w+)\)\(", code) or re.search(r"\b(taylor_\w+)\s*\(", code) or re.search(r"\}\s*(\w+);", code) or re.search(r"(\w+);", code) or re.search(r"#define (\w+)", code)
        parts.append(f"## `{name[1]}`\n\n```c\n{chunk}\n```\n")
    return "\n".join(parts)


def python_names(site):
    """The public names of taylor_attention: {module: [name]}, in the modules' order."""
    package = site.root / "runtime/python/taylor_attention"
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    found, everything = {}, []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for alias in node.names:
                found.setdefault(node.module, []).append(alias.asname or alias.name)
        elif isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            everything = ast.literal_eval(node.value)
        elif isinstance(node, ast.Assign) and node.targets[0].id == "_TORCH":
            for name, module in ast.literal_eval(node.value).items():
                found.setdefault(module, []).append(name)
    found.pop(None, None)
    missing = set(everything) - {name for names in found.values() for name in names}
    if missing:
        sys.exit(f"error: expected every name of taylor_attention.__all__ from a module, but {sorted(missing)} have none")
    for module in ("nn", "hf"):  # modules of the user's own name
        if (package / f"{module}.py").exists():
            names = [node.name for node in ast.parse((package / f"{module}.py").read_text(encoding="utf-8")).body
                     if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")]
            found[module] = [f"{module}.{name}" for name in dict.fromkeys(names)]
    return found


TITLES = {"spec": "Specifications", "calls": "Attention on tensors", "decoder": "Decoding", "nn": "Layers", "hf": "Models of transformers",
          "arguments": "Arguments and where a model gets them", "operations": "Operations", "pairs": "Sums over pairs", "formula": "Formulas, indices and sizes",
          "functions": "Functions of formulas", "axes": "Axes", "messages": "Messages", "places": "Places", "files": "Files"}
FIRST = list(TITLES)


def python_api(site):
    """The Python interface by autodoc, a section for each module."""
    found = python_names(site)
    parts = []
    for module in sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        path = site.root / f"runtime/python/taylor_attention/{module}.py"
        summary = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or module).split("\n\n")[0]
        names = [name for name in found[module] if len(name) > 1]  # b, h, t, .. are axes
        directives = []
        for name in names:
            inside = name.split(".")[-1]
            kind = site.python_kinds(module).get(inside, "data")
            directives += [f".. auto{kind}:: taylor_attention.{name}", *(["   :members:"] if kind == "class" else []), ""]
        parts.append(f"## {TITLES.get(module, module)}\n\n{' '.join(summary.split())}\n\n```{{eval-rst}}\n" + "\n".join(directives) + "\n```\n")
    return "\n".join(parts)


def messages(site):
    """Each message of the language, with the text that gets it, from test/dialect/*-invalid.mlir."""
    parts, count = [], 0
    for path in sorted((site.root / "test/dialect").glob("*-invalid.mlir")):
        text = path.read_text(encoding="utf-8")
        title = re.match(r"// (.*)\n", text)
        rows = []
        for case in re.split(r"^// -----.*\n", text, flags=re.M):
            lines = case.splitlines()
            for number, line in enumerate(lines):
                found = re.match(r"\s*// expected-error\s*(?:@(?:below|\+\d+|above|-\d+))?\s*\{\{(.*)\}\}", line)
                if not found:
                    continue
                after = [x for x in lines[number + 1:] if x.strip() and not x.strip().startswith("//")]
                before = [x for x in lines[:number] if x.strip() and not x.strip().startswith("//")]
                shown = (before[-1:] if "@above" in line else after[:1]) or [""]
                rows.append((found[1], shown[0].strip()))
        rows = list(dict.fromkeys(rows))
        count += len(rows)
        if rows:
            body = "\n".join(f"{shown}\n  error: {message}\n" for message, shown in rows)
            parts.append(f"### {title[1].rstrip('.') if title else path.stem}\n\nFrom [{path.name}](../../test/dialect/{path.name}).\n\n```mlir\n{body}```\n")
    if count < 50:
        sys.exit(f"error: expected at least 50 messages in test/dialect/*-invalid.mlir, but got {count}")
    return "\n".join(parts)


def processor_times(site):
    measured = json.loads((site.root / "examples/measured.json").read_text(encoding="utf-8"))
    rows = [(name, ", ".join(row.get("forms", [])), f"{row['time']:.2f}", row["measured"], row["commit"]) for name, row in sorted(measured.items()) if "time" in row]
    # The command as the script has it.
    sys.path.insert(0, str(site.root / "examples"))
    import measure_specs
    command = f"Each row is `taylor-bench {' '.join(measure_specs.COMMAND)} --spec FILE`.\n\n"
    return command + table(("attention", "forms", "time, of SDPA's", "measured, on", "commit"), rows)


def processors(site):
    """The rows by which processors are compared, of each kind that was measured."""
    sys.path.insert(0, str(site.root / "runtime/lab/bench"))
    import processors as rows
    files = [site.root / f"runtime/lab/bench/{name}.json" for name in ("epyc", "avx2", "xeon")]
    return rows.table(files)


def gpu_times(site):
    results = json.loads((site.root / "runtime/lab/gpu-check/h200.json").read_text(encoding="utf-8"))
    machine, folder = results["machine"], results["folder"]
    parts = [table(("what", "value"), [("machine", f"{machine['name']}, {machine['capability']}, driver {machine['driver']}"), ("date", results["date"][:10]),
                                       ("commit", folder["commit"]), ("kernels", ", ".join(folder["targets"])), ("torch, CUDA", f"{results['torch']}, {results['cuda']}"), ("command", f"`{results['command']}`")])]
    groups = {}
    for row in results["times"]:
        groups.setdefault((row["d"], row["direction"]), {}).setdefault(row["contender"], {})[row["t"]] = row
    for (d, direction), rows in groups.items():
        tokens = sorted({t for row in rows.values() for t in row})
        # Who is faster comes first.
        order = sorted(rows, key=lambda name: rows[name][max(rows[name])]["ms"])
        lines = [(name, *(f"{rows[name][t]['ms']:.2f}" if t in rows[name] else "" for t in tokens)) for name in order]
        parts.append(f"### {direction.capitalize()}, bf16, {d} channels: milliseconds\n\n" + table(("contender", *(f"{t} tokens" for t in tokens)), lines))
    return "\n".join(parts)


def explain(site):
    """The compiler's own page of one specification, in a frame."""
    page = site.extra / "explain" / "softmax.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([site.program("taylorc"), "examples/specs/softmax.mlir", "--target=x86-64-v3", "--quiet", f"--explain={page}"], cwd=site.root, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stderr.rstrip()}\nerror: expected the explain page of softmax.mlir from taylorc, but it failed ({done.returncode})")
    return ('Here is that page for [softmax.mlir](../../examples/specs/softmax.mlir). A line under the pointer lights up with all lines that it comes from or leads to.\n\n'
            '<p><a href="explain/softmax.html">The page by itself</a></p>\n'
            '<iframe src="explain/softmax.html" title="All levels of softmax" width="100%" height="600"></iframe>\n')


PARTS = {"explain": explain, "settings": settings, "c-header": c_header, "python-api": python_api, "messages": messages, "processor-times": processor_times, "processors": processors, "gpu-times": gpu_times}


def fill(site, text):
    def part(match):
        if match[1] not in PARTS:
            sys.exit(f"error: expected one of {', '.join(PARTS)} as a generated part, but got '{match[1]}'")
        return PARTS[match[1]](site)
    return re.sub(r"<!-- generated: ([\w-]+) -->", part, text)
