# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s %bin_dir %spec_dir %source_dir/test/dialect
"""An editor's session with taylor-lsp-server: no diagnostics for good specifications; for wrong ones the message of taylor-opt at its place, also
inside a formula; hover text and definitions of operations, values and types; and an end with status 0."""
import json
import pathlib
import re
import subprocess
import sys
import threading

BIN, SPECS, INVALID = (pathlib.Path(x).resolve() for x in sys.argv[1:4])
SECONDS = 60  # for the whole session, which takes well under one


class Session:
    """A language server and its client: JSON-RPC messages, each behind a header with its length in bytes."""

    def __init__(self):
        command = [BIN / "taylor-lsp-server", "--log=error"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.watch = threading.Timer(SECONDS, self.process.kill)  # then reads end, and the session fails
        self.watch.daemon = True
        self.watch.start()
        self.requests = 0

    def send(self, method, **fields):
        body = json.dumps({"jsonrpc": "2.0", "method": method, **fields}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        header = b""
        while not header.endswith(b"\r\n\r\n"):
            line = self.process.stdout.readline()
            assert line, f"expected a message, but the server ended: {self.process.stderr.read().decode()}"
            header += line
        return json.loads(self.process.stdout.read(int(re.search(rb"Content-Length: (\d+)", header)[1])))

    def ask(self, method, **parameters):
        self.requests += 1
        self.send(method, id=self.requests, params=parameters)
        answer = self.receive()
        assert answer.get("id") == self.requests and "result" in answer, answer
        return answer["result"]

    def diagnostics(self, uri):
        message = self.receive()
        assert message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri, message
        return message["params"]["diagnostics"]

    def open(self, uri, text):
        self.send("textDocument/didOpen", params={"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})
        return self.diagnostics(uri)

    def change(self, uri, version, text):
        self.send("textDocument/didChange", params={"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})
        return self.diagnostics(uri)

    def end(self):
        assert self.ask("shutdown") is None
        self.send("exit")
        assert self.process.wait(SECONDS) == 0
        self.watch.cancel()
        assert self.process.stderr.read() == b""


def place(text, index):
    return {"line": text.count("\n", 0, index), "character": index - text.rfind("\n", 0, index) - 1}


def span(text, pattern):
    """The range of the pattern's only match, of its group where it has one."""
    (match,) = re.finditer(pattern, text)
    group = match.re.groups
    return {"start": place(text, match.start(group)), "end": place(text, match.end(group))}


session = Session()
capabilities = session.ask("initialize", processId=None, rootUri=None, capabilities={})["capabilities"]
assert capabilities["hoverProvider"] and capabilities["definitionProvider"], capabilities
session.send("initialized", params={})

specs = sorted(SPECS.glob("*.mlir"))
assert specs
for spec in specs:
    found = session.open(spec.as_uri(), spec.read_text(encoding="utf-8"))
    assert found == [], (spec, found)

# Hover and definition, on a text whose values are used inside formulas.
GOOD = """// Clamped scores.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @clamped(%q: !q, %k: !k, %v: !v, %gate: !row from projection(bias)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%gate) * %n / %z : !row, !o, !row
  taylor.yield %o : !o
}
"""
URI = "file:///clamped.mlir"
assert session.open(URI, GOOD) == []


def at(pattern):
    return {"textDocument": {"uri": URI}, "position": span(GOOD, pattern)["start"]}


def check_hover(pattern, *texts):
    hover = session.ask("textDocument/hover", **at(pattern))
    assert hover["range"] == span(GOOD, pattern), hover
    for text in texts:
        assert text in hover["contents"]["value"], (text, hover)


def check_definition(use, definition):
    found = session.ask("textDocument/definition", **at(use))
    assert found == [{"uri": URI, "range": span(GOOD, definition)}], found


check_hover(r"taylor\.recurrences", '"taylor.recurrences"', "mask = #taylor<mask causal>", "-> (!taylor.array<[b, h, t, e]>, !taylor.array<[b, h, t]>)")
check_hover(r"taylor\.spec", "public @clamped", 'arg_names = ["q", "k", "v", "gate"]')
check_hover(r"/ (%z)", '"taylor.recurrences"', "Result #1", "`!taylor.array<[b, h, t]>`")
check_hover(r"sigmoid\((%gate)", "Argument #3", "`!taylor.array<[b, h, t]>`")
check_definition(r"/ (%z)", r"(%z) =")
check_definition(r"\* (%n)", r"(%n), %z")
check_definition(r"sigmoid\((%gate)", r"(%gate):")
check_definition(r"yield %o : (!o)", r"(!o) =")

# One mistake each; the range is that of the word at fault, or of the start of a type's list of axes.
version = 1
for right, wrong, pattern, message in [
    ("sigmoid", "sigmoyd", r"sigmoyd", "custom op 'taylor.map' unsupported function 'sigmoyd'; did you mean 'sigmoid'?"),
    ("min(s, 5.0)", "min(s)", r"\((min)\(s\)", "custom op 'taylor.recurrences' expected 2 arguments of 'min', but got 1"),
    ("%n / %z :", "%n / %zz :", r"%zz", "expected an argument, or a result from above, but got '%zz'; did you mean '%z'?"),
    ("!o = !taylor.array<[b, h, t, e]>", "!o = !taylor.array<[b, h, t, t]>", r"!o = !taylor\.array(<\[)", "expected distinct axes, but got 't' twice"),
    ("causal :", "casual :", r"casual", "custom op 'taylor.recurrences' expected a clause (orders, coefficients, exponential, weight, scale, score, decay, "
     "causal, bidirectional, visible), but got 'casual'; did you mean 'causal'?"),
]:
    assert GOOD.count(right) == 1, right
    text, version = GOOD.replace(right, wrong), version + 1
    (found,) = session.change(URI, version, text)
    assert found["severity"] == 1 and found["message"] == message and found["range"] == span(text, pattern), found
assert session.change(URI, version + 1, GOOD) == []

# Each message that taylor-opt's tests of formulas and local operations expect comes as one diagnostic, and without the operation in generic form.
count = 0
for name in ("formulas-invalid", "local-invalid", "token-operations-invalid"):
    for part in (INVALID / f"{name}.mlir").read_text(encoding="utf-8").split("// -----\n"):
        uri, expected = f"file:///{name}/{count}.mlir", re.findall(r"expected-error @\S+ {{(.*)}}", part)
        found = session.open(uri, part)
        assert len(found) == len(expected) and all(text in x["message"] for x, text in zip(found, expected)), (part, found)
        assert all("relatedInformation" not in x for x in found), (part, found)
        count += 1
assert count > 20, count

# Nesting that no one means: one diagnostic or none, and a server that lives on.
DEEP = 6000
assert session.open("file:///deep-regions.mlir", "module {\n" * DEEP + "}\n" * DEEP) == []
(found,) = session.open("file:///deep-attribute.mlir", "module attributes {x = " + "[" * DEEP + "} {}\n")
assert found["severity"] == 1, found
assert session.change(URI, version + 2, GOOD) == []
session.end()
