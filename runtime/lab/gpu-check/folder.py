# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder that gpu-check.sh packs: pack.json says what is in it."""
import io
import json
import lzma
import pathlib
import tempfile

from errors import Unusable

FORMAT = 2
AGAIN = "run ./gpu-check.sh in Taylor's repository and copy all of build/gpu-check"


class Folder:
    """`index` is pack.json: about (commit, date, targets), files (bytes by path), artifacts, cases, times, refused."""

    def __init__(self, path):
        self.path = path
        try:
            self.index = json.loads((path / "pack.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Unusable(f"expected pack.json beside check.py, but {path} has none; {AGAIN}") from None
        except ValueError as error:
            raise Unusable(f"cannot read {path}/pack.json: {error}; {AGAIN}") from None
        if self.index.get("format") != FORMAT:
            raise Unusable(f"expected a folder of format {FORMAT}, but {path} has format {self.index.get('format')}; {AGAIN}")
        for name, size in self.index["files"].items():
            file = path / name
            if not file.is_file():
                raise Unusable(f"expected {name} in {path}, but it is not there; {AGAIN}")
            if file.stat().st_size != size:
                raise Unusable(f"expected {size} bytes in {name}, but got {file.stat().st_size}; {AGAIN}")

        self.unpacked = tempfile.TemporaryDirectory(prefix="taylor-")

    def reference(self, packed):
        """A stream of the file's contents, for torch.load."""
        return io.BytesIO(self.unpack(packed))

    def unpack(self, packed):
        try:
            return lzma.decompress((self.path / packed).read_bytes())
        except lzma.LZMAError as error:
            raise Unusable(f"cannot unpack {packed}: {error}; {AGAIN}") from None

    def artifact(self, name):
        """The artifact's file, unpacked for as long as this object lives."""
        file = pathlib.Path(self.unpacked.name) / f"{name}.so"
        if not file.exists():
            file.write_bytes(self.unpack(self.index["artifacts"][name]["file"]))
        return file
