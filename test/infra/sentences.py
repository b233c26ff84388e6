# RUN: %python %s %t %source_dir/examples/quickstart/sentences.py
"""What the quickstart trains on: sentences of documentation comments, without banners, licences and code."""
import pathlib
import shutil
import subprocess
import sys

folder, script = pathlib.Path(sys.argv[1]), sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
(folder / "headers/deeper").mkdir(parents=True)
(folder / "headers/a.h").write_text("""//===- a.h - A banner ----------===//
//
// Part of the LLVM Project, under the Apache License v2.0 with LLVM Exceptions.
//===----------------------------------------------------------------------===//
/// \\file
/// This file has a class of its own. It is short.
///
/// \\brief Returns true if the `value` is
/// a constant that \\p Other uses.
/// See http://example.org for more of it.
/// too small
bool isConstant(int value); // This is no documentation comment.
///< Returns the number of values that follow.
/// \\code
///   This is code of an example.
/// \\endcode
/// Copyright of this file is with its authors.
/// This one calls foo() and std::move for you.
/// Returns true if the value is a constant that Other uses.
//// These four slashes are no documentation.
""")
(folder / "headers/deeper/b.td").write_text("/// The last of all sentences here.\n")
(folder / "headers/c.txt").write_text("/// This file is no header at all.\n")
result = subprocess.run([sys.executable, script, folder / "out.txt", folder / "headers"], capture_output=True, text=True)
assert result.returncode == 0 and result.stdout == "4 sentences of documentation comments, 0.0 MB\n", result
assert (folder / "out.txt").read_text().splitlines() == [
    "This file has a class of its own.", "Returns true if the value is a constant that Other uses.", "Returns the number of values that follow.", "The last of all sentences here."], (folder / "out.txt").read_text()
result = subprocess.run([sys.executable, script, folder / "out.txt", folder / "headers/deeper/none"], capture_output=True, text=True)
assert result.returncode == 1 and result.stderr == f"error: expected headers with documentation comments, but '{folder}/headers/deeper/none' have none\n", result
