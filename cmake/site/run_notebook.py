# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: run_notebook.py NOTEBOOK OUTPUT: runs the cells of a notebook, in a new kernel of this Python, and writes the notebook with what each printed and
drew. The exit status is 1 where a cell raises, unless its tags have `raises-exception`, and the message names the cell.

Needs nbclient and ipykernel; what the notebook imports is the notebook's."""
import pathlib
import re
import sys
import tempfile

import jupyter_client
import nbclient
import nbformat

SECONDS = 100  # for one cell


def run(notebook):
    try:
        with tempfile.TemporaryDirectory() as folder:  # of sockets, which no other user of the machine can open
            kernel = jupyter_client.AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
            nbclient.NotebookClient(notebook, km=kernel, timeout=SECONDS, record_timing=False).execute(cleanup_kc=True)
    except nbclient.exceptions.CellExecutionError:
        number, cell = next((number, cell) for number, cell in enumerate(notebook.cells) for output in cell.get("outputs", []) if output.output_type == "error"
                            and "raises-exception" not in cell.metadata.get("tags", []))
        fault = next(output for output in cell.outputs if output.output_type == "error")
        raise SystemExit(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(fault.traceback)) + f"\nerror: cell {number} raised {fault.ename}: {fault.evalue}")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(f"{__doc__}\n\nerror: expected a notebook and an output, but got {len(arguments)} arguments")
    notebook = nbformat.read(arguments[0], as_version=4)
    run(notebook)
    nbformat.write(notebook, pathlib.Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
