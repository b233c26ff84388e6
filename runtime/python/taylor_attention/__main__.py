# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m taylor_attention`: checks this installation. Exit status 1 where a check fails."""
import sys

from .check import main

sys.exit(main(sys.argv[1:]))
