# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %source_dir %build_dir %t %full
# REQUIRES: compiler, torch, sphinx
# UNSUPPORTED: sanitizer
"""The site is made without a warning, asks no other host for anything, has no link to nothing, and searches find their pages. Under --full with tutorials and
gallery, and a browser sees each page; a machine without chromium fails there."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

source, build, folder = map(pathlib.Path, sys.argv[1:4])
full = sys.argv[4] == "1"
sys.path[:0] = [str(source / "cmake"), str(source / "cmake/site")]
import generated
import pages
from make_site import find_sphinx

shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
sphinx = find_sphinx(folder, build)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def make(*options):
    return run(sys.executable, source / "cmake/make_site.py", f"--build={folder}", f"--programs={build}", *options)


def check(site, *searches):
    return run(sphinx, source / "cmake/site/check_site.py", site, *searches)


# ---- The site itself.
done = make(*([] if full else ["--only-pages"]))
assert done.returncode == 0, done.stdout + done.stderr
site = folder / "site"
searches = ["sliding window=tutorials/flex-attention", "sliding window=examples/specs/beyond/README", "Decoder=python", "Decoder=tutorials/decoding", "tolerance=numerics"]
done = check(site, *searches, *(["sliding window=gallery/beyond-sliding-window"] if full else []))
assert done.returncode == 0, done.stdout + done.stderr


def text(page):
    return re.sub(r"<[^>]+>", "", (site / f"{page}.html").read_text(encoding="utf-8"))


# Each generated part has what it is made of.
for page, words in {"settings": ["train.micro_batch", "optimizer.learning_rate"], "c": ["taylor_last_error", "TaylorRunOptions"], "benchmarks": ["NVIDIA H200", "SDPA cuDNN", "softmax-taylor", "check.py --minutes", "taylor-bench attention --shape 1,4,1024,64",
                                                                                                                                    "AVX2 (the same machine, held to it)", "forward (causal, alibi, window, soft-cap), bf16, 1,4,4096,64"],
                    "errors": ["unsupported operator '**' in a formula; write pow(x, y)"], "python": ["taylor_attention.recurrences", "taylor_attention.Decoder", "taylor_attention.attention"],
                    "reference/dialect-taylor": ["taylor.recurrences"], "reference/passes-Passes": ["-taylor-stabilize"]}.items():
    for word in words:
        assert word.replace("'", "&#39;") in text(page) or word in text(page), (page, word)
# The index names each page of the build's reference, and no other.
named = set(re.findall(r"^(reference/[\w-]+)$", (source / "cmake/site/index.md").read_text(encoding="utf-8"), re.M))
assert named == {f"reference/{page.stem}" for page in (build / "docs").glob("*.md")}, named
# Passes are headings below the title of their page: the navigation names pages, not passes.
for page in (site / "reference").glob("*.html"):
    assert page.read_text(encoding="utf-8").count("<h1>") == 1, page
# A picture leads to itself, for figures are wider than pages.
assert re.search(r'<a class="reference internal" href="(../../_images/figure-5\.png)"><img [^>]*src="\1" style="width: 2680px;"',
                 (site / "examples/experiments/RESULTS.html").read_text(encoding="utf-8"))
# Every public name is documented, with words.
names = [name for names in generated.python_names(type("Site", (), {"root": source})).values() for name in names if len(name) > 1]
assert len(names) > 60, names
for name in names:
    assert f'id="taylor_attention.{name}"' in (site / "python.html").read_text(encoding="utf-8"), name
if full:
    assert "relative error" in text("tutorials/first") and len(list((site / "gallery").glob("*.html"))) > 57
    assert 'class="sides"' in (site / "gallery/softmax.html").read_text(encoding="utf-8")

# ---- Links of pages: to a page, to a source, to a picture, to nothing.
tree, out = folder / "tree", folder / "staged"
MD = ".md"  # apart: links.py takes such names for pages of this tree
(tree / "sub").mkdir(parents=True)
(tree / "README.md").write_text("# A\n\n[b](sub/), [a place](sub/README.md#b), [`code`](sub/x.mlir), ![p](p.svg) and `[no](link)`.\n\n```text\n[no](link)\n```\n")
(tree / "sub/README.md").write_text('# B\n\n[up](../README.md), <a href="../README.md">up</a>, [out](https://example.org/)\n')
(tree / "sub/x.mlir").write_text("// text\n")
(tree / "p.svg").write_text("<svg/>")
staged = pages.Pages(tree.resolve(), out, folder / "extra")
staged.add_tree()
assert staged.write_all() == []
assert (out / "README.md").read_text() == ("# A\n\n[b](sub/README.md), [a place](sub/README.md#b), [`code`](source/sub/x.mlir" + MD + "), ![p](pictures/p.svg) and `[no](link)`.\n\n"
                                           "```text\n[no](link)\n```\n"), (out / "README.md").read_text()
assert (out / "sub/README.md").read_text() == '# B\n\n[up](../README.md), <a href="../README.html">up</a>, [out](https://example.org/)\n'
assert "```mlir\n// text\n```" in (out / f"source/sub/x.mlir{MD}").read_text() and (out / "pictures/p.svg").exists()
(tree / "README.md").write_text(f"[nothing](absent{MD})\n")
staged = pages.Pages(tree.resolve(), out, folder / "extra")
staged.add_tree()
assert staged.write_all() == [f"{tree.resolve() / 'README.md'}: expected a file of this tree, but got a link to absent{MD}"]

# ---- What check_site.py finds.
wrong = folder / "wrong"
wrong.mkdir()
(wrong / "index.html").write_text('<link rel="stylesheet" href="https://fonts.example.org/a.css"><script src="//cdn.example.org/a.js"></script><img src="absent.png">'
                                  '<a href="absent.html">x</a><a href="other.html#nowhere">y</a><a href="other.html#here">z</a><a href="https://example.org/">w</a>'
                                  "<style>p { background: url(http://example.org/b.png) }</style>")
(wrong / "other.html").write_text('<p id="here">')
(wrong / "a.css").write_text("@import 'https://example.org/c.css'; p { background: url(data:image/png;base64,AA) }")
(wrong / "searchindex.js").write_text('Search.setIndex({"docnames": ["index"], "terms": {"decod": 0}, "titleterms": {}})')
done = check(wrong, "decoder=index", "tolerance=index")
assert done.returncode == 1 and sorted(done.stdout.splitlines()) == sorted([
    "a.css: asks for https://example.org/c.css", "index.html: asks for https://fonts.example.org/a.css", "index.html: asks for //cdn.example.org/a.js",
    "index.html: asks for http://example.org/b.png", "index.html: a link to nothing, absent.html", "index.html: a link to nothing, absent.png",
    "index.html: a link to no place of other.html, #nowhere", "a search for 'tolerance' finds no index, but 0 pages: "]), done.stdout

# ---- A machine without Sphinx is told what to do.
bare = folder / "bare" / "site-python" / "bin"
bare.mkdir(parents=True)
(bare / "python3").write_text("#!/bin/sh\nexit 1\n")
(bare / "python3").chmod(0o755)
done = run(sys.executable, source / "cmake/make_site.py", f"--build={bare.parents[1]}")
assert done.returncode == 1 and f"error: requires Sphinx, MyST and furo in {bare / 'python3'} to make the site" in done.stderr and "site.lock" in done.stderr, done

# ---- A browser, which no host answers: pages are shown, and the search finds.
LOOKS = """<!doctype html><pre id="found"></pre><iframe id="frame" style="height: 900px; border: 0"></iframe><script>
const frame = document.getElementById("frame"), found = [];
const rules = sheet => { try { return sheet.sheet.cssRules.length; } catch { return 0; } };  // a file that is not there
const load = page => new Promise(done => { frame.onload = done; frame.src = page; });
(async () => {
  for (const width of [1440, 390]) {
    frame.style.width = `${width}px`;
    for (const page of PAGES) {
      await load(page);
      const seen = frame.contentDocument, say = text => found.push(`${page} at ${width}: ${text}`);
      for (const part of [seen.documentElement, seen.querySelector(".content")])
        if (part && part.scrollWidth > part.clientWidth) say(`${part.scrollWidth} wide`);
      for (const picture of seen.images) {
        picture.loading = "eager";
        await picture.decode().catch(() => say(`no picture ${picture.src}`));
      }
      for (const sheet of seen.querySelectorAll("link[rel=stylesheet]"))
        if (!rules(sheet)) say(`no style ${sheet.href}`);
      for (const box of seen.querySelectorAll(".sides"))
        if ((box.children[0].offsetTop == box.children[1].offsetTop) != (width == 1440)) say("texts that are not side by side on a desk, or not below each other on a telephone");
      if (page == "index.html" && width == 1440 && seen.querySelector("article").clientWidth < 800) say("as narrow as the theme");
    }
  }
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""
chromium = shutil.which(os.environ.get("TAYLOR_CHROMIUM", "chromium"))
assert chromium or not full, ("requires chromium to look at the pages under --full, but it is not in the PATH: apt-get install -y chromium, "
                              "or TAYLOR_CHROMIUM=PROGRAM for another")
if full:
    def look(url, *options, budget=20000):
        return run(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'browser'}",
                   f"--virtual-time-budget={budget}", *options, url, timeout=900)

    def see(site):
        """What a browser finds wrong with pages: wider than a desk's or a telephone's window, or without their pictures and styles."""
        pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.parent.name != "explain")  # which has one column a level
        (site / "looks.html").write_text(LOOKS.replace("PAGES", json.dumps(pages)))
        done = look((site / "looks.html").as_uri(), "--dump-dom", "--window-size=1500,1000", budget=10**7)
        (site / "looks.html").unlink()
        found = re.search(r'<pre id="found">(\[.*?)</pre>', done.stdout, re.S)
        assert found, (done.stdout[:2000], done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    picture = folder / "index.png"
    look((site / "index.html").as_uri(), f"--screenshot={picture}", "--window-size=1200,900")
    assert picture.stat().st_size > 20000, picture
    for words, page in (("sliding+window", "gallery/beyond-sliding-window.html"), ("Decoder", "tutorials/decoding.html"), ("tolerance", "numerics.html")):
        done = look(f"{(site / 'search.html').as_uri()}?q={words}", "--dump-dom")
        results = done.stdout.partition('id="search-results"')[2].partition("</article>")[0]
        assert f'href="{page}' in results, (words, results[:3000], done.stderr[-2000:])
    assert see(site) == [], see(site)
    poor = folder / "poor"
    poor.mkdir()
    (poor / "index.html").write_text('<link rel="stylesheet" href="absent.css"><article style="width: 500px"><img src="absent.png"></article><div class="sides"><p>a</p><p>b</p></div>')
    assert see(poor) == [f"index.html at 1440: no picture {poor.as_uri()}/absent.png", f"index.html at 1440: no style {poor.as_uri()}/absent.css",
                         "index.html at 1440: texts that are not side by side on a desk, or not below each other on a telephone", "index.html at 1440: as narrow as the theme",
                         "index.html at 390: 508 wide", f"index.html at 390: no picture {poor.as_uri()}/absent.png", f"index.html at 390: no style {poor.as_uri()}/absent.css"], see(poor)
