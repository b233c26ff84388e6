# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: run_share.py I/N FULL BIN_DIR: checks the Ith of N parts of the corpus' fixed tenth, or of
all of it if FULL is 1."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden

(share, shares), full, bin_dir = map(int, sys.argv[1].split("/")), sys.argv[2] == "1", sys.argv[3]
# Entry x is in the tenth where x % 10 == 0: x = 10 s (mod 10 n) for the sth of n parts of it.
part = f"{share}/{shares}" if full else f"{10 * share}/{10 * shares}"
sys.exit(golden.main([f"--share={part}", f"--bin={bin_dir}"]))
