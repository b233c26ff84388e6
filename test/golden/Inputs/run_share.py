# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: run_share.py I/N FULL BIN_DIR: the Ith of N parts of the corpus' fixed fifteenth, or of all of it where FULL is 1."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden

(share, shares), full, bin_dir = map(int, sys.argv[1].split("/")), sys.argv[2] == "1", sys.argv[3]
# Entry x is in the fifteenth where x % 15 == 0: x = 15 s (mod 15 n) for the sth of n parts of it.
part = f"{share}/{shares}" if full else f"{15 * share}/{15 * shares}"
sys.exit(golden.main([f"--share={part}", f"--bin={bin_dir}"]))
