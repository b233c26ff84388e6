# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env IPYTHONDIR=%t.ipython JUPYTER_CONFIG_DIR=%t.ipython MPLCONFIGDIR=%t.ipython TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %source_dir %t
# REQUIRES: compiler, torch, notebooks
# UNSUPPORTED: sanitizer
"""The tutorial notebook runs in a kernel of Jupyter, prints what stands in it, and draws where it has pictures; a cell that raises is named."""
import json
import pathlib
import re
import subprocess
import sys

source, folder = map(pathlib.Path, sys.argv[1:3])
folder.mkdir(parents=True, exist_ok=True)


def run(notebook, output):
    return subprocess.run([sys.executable, source / "cmake/site/run_notebook.py", notebook, output], cwd=folder, capture_output=True, text=True)


def shown(output):
    """What a reader sees of it: text, or that there is a picture. Progress is not in it: that a compilation took more than two seconds says
    something of the machine alone."""
    if output["output_type"] == "stream":
        return "".join(line for line in "".join(output["text"]).splitlines(keepends=True) if not re.match("taylor: compil(ing|ed) ", line))
    if output["output_type"] == "error":
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"]))
    return "a picture" if "image/png" in output["data"] else "".join(output["data"]["text/plain"])


def cells(file):
    return json.loads(file.read_text(encoding="utf-8"))["cells"]


given, written = source / "examples/tutorials/notebook.ipynb", folder / "notebook.ipynb"
done = run(given, written)
assert done.returncode == 0, done.stdout + done.stderr
pictures = 0
for before, after in zip(cells(given), cells(written), strict=True):
    assert before["source"] == after["source"]
    if before["cell_type"] == "code":
        assert before["execution_count"], "expected a notebook with its outputs; cmake/site/README.md says how to write them"
        want, got = ([text for output in cell["outputs"] if (text := shown(output))] for cell in (before, after))
        assert want == got, (before["source"], want, got)
        pictures += got.count("a picture")
assert pictures == 2, pictures
assert any("did you mean" in shown(output) for cell in cells(given) if cell["cell_type"] == "code" for output in cell["outputs"]), "the message of a mistake"

faulty = json.loads(given.read_text(encoding="utf-8"))
faulty["cells"] = faulty["cells"][:1] + [{"cell_type": "code", "id": "fault", "execution_count": None, "metadata": {}, "outputs": [], "source": ["x = 1\n", "1 / 0"]}]
(folder / "faulty.ipynb").write_text(json.dumps(faulty))
done = run(folder / "faulty.ipynb", folder / "unwritten.ipynb")
assert done.returncode == 1 and done.stderr.rstrip().endswith("error: cell 1 raised ZeroDivisionError: division by zero"), done
assert not (folder / "unwritten.ipynb").exists()
done = subprocess.run([sys.executable, source / "cmake/site/run_notebook.py"], capture_output=True, text=True)
assert done.returncode == 1 and done.stderr.rstrip().endswith("error: expected a notebook and an output, but got 0 arguments"), done
