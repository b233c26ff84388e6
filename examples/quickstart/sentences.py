# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: sentences.py FILE FOLDER ..: writes the sentences of the documentation comments (///) in the headers of some
folders, one a line, each once.

They are prose without code, banners and licences, so that a model that trains for a minute continues it with sentences.
The quickstart trains on those of LLVM and MLIR, which are under the Apache License 2.0 with LLVM Exceptions."""
import pathlib
import re
import sys

COMMENT = re.compile(r"\s*///(?!/)<? ?(.*)")
COMMAND = re.compile(r"[\\@](p|c|a|ref|see|brief|returns?|param( \w+)?|note|tparam \w+|file|name|sa)\b ?")
CODE = re.compile(r"[{}<>;=\[\]#\\|@_*\"]|->|::|https?:|Copyright|License|TODO|FIXME")
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def paragraphs(text):
    """Comment blocks without their marks, cut at blank lines, lists, commands and code."""
    words, inside = [], False
    for line in text.splitlines():
        match = COMMENT.match(line)
        body = match[1].rstrip() if match else ""
        fence = body.startswith(("\\code", "\\endcode", "```"))
        if fence:
            inside = not body.startswith("\\endcode") and not inside
        if not body or fence or inside or body.startswith(("   ", "===", "- ", "* ", "\\", "@", "|")):
            yield " ".join(words)
            words = []
        if body and not fence and not inside and not body.startswith(("   ", "===", "|")):
            words.append(COMMAND.sub("", body).replace("`", "").strip("-* "))
    yield " ".join(words)


def sentences(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix in (".h", ".td"):
                for paragraph in paragraphs(path.read_text(errors="replace")):
                    yield from (sentence.strip() for sentence in END.split(paragraph))


def is_prose(sentence):
    letters = sum(c.isalpha() or c == " " for c in sentence)
    return (len(sentence.split()) >= 4 and sentence[0].isupper() and sentence.endswith(".") and not CODE.search(sentence) and letters > 0.92 * len(sentence)
            and sentence.isascii())


def main(file, *folders):
    found = list(dict.fromkeys(filter(is_prose, sentences(folders))))
    if not found:
        sys.exit(f"error: expected headers with documentation comments, but {' and '.join(map(repr, folders))} have none")
    pathlib.Path(file).write_text("".join(sentence + "\n" for sentence in found))
    print(f"{len(found)} sentences of documentation comments, {sum(map(len, found)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
