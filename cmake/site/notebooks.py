# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A notebook as a page: its cells, and what they printed and drew when they ran last."""
import base64
import json
import re


def fenced(text, language):
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


def output_text(output):
    if output["output_type"] == "stream":
        return "".join(output["text"])
    if output["output_type"] == "error":
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"]))
    return "".join(output["data"].get("text/plain", ""))


def page(file, pictures):
    """The notebook's text in Markdown. Its pictures go to the folder `pictures`, where the page's HTML will lie."""
    result = []
    for number, cell in enumerate(json.loads(file.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            result.append(f"{source}\n" if cell["cell_type"] == "markdown" else fenced(source, "text"))
            continue
        result.append(fenced(source, "mlir" if source.startswith("%%taylor") else "python"))
        for place, output in enumerate(cell["outputs"]):
            if picture := output.get("data", {}).get("image/png"):
                path = pictures / f"{file.stem}-{number}-{place}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(base64.b64decode("".join(picture)))
                result.append(f'<img src="{path.name}" alt="drawn by the cell above">\n')
            elif text := output_text(output).strip("\n"):
                result.append(fenced(text, "text"))
    return "\n".join(result)
