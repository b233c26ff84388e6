# RUN: %python %s %source_dir
"""runtime/MANIFEST.md says of every field of the schema (runtime/Manifest.h), and so of every field of a manifest, what it means."""
import pathlib
import re
import sys

runtime = pathlib.Path(sys.argv[1]) / "runtime"
fields = set(re.findall(r'visit\.(?:required|defaulted|optional)\("(\w+)"', (runtime / "Manifest.h").read_text(encoding="utf-8")))
assert len(fields) > 40, fields
text = (runtime / "MANIFEST.md").read_text(encoding="utf-8")
unsaid = [field for field in sorted(fields) if not re.search(rf'["*` .]{field}["*`: .]', text)]
assert not unsaid, "not in runtime/MANIFEST.md: " + ", ".join(unsaid)
