# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: check_site.py SITE [WORDS=PAGE ..]: checks that the pages of a folder ask other hosts for nothing, that all
links between them lead somewhere, and that a search for the words finds the page. Prints what is wrong; exit status 1
if something is.

Needs the Python of Sphinx: a search takes the stems of words, by the library that made the index."""
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

ASKS = {"script": ["src"], "img": ["src", "srcset"], "link": ["href"], "iframe": ["src"], "source": ["src", "srcset"], "video": ["src"], "object": ["data"], "embed": ["src"]}
FOREIGN = re.compile(r"(?:[a-z]+:)?//", re.I)


class Page(html.parser.HTMLParser):
    """What a page asks for when it is shown, what it links to, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.asked, self.links, self.places, self.styles = [], [], set(), []
        self.is_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        self.places.update(values[name] for name in ("id", "name") if name in values)
        self.asked += [values[name] for name in ASKS.get(tag, ()) if values.get(name)]
        self.is_style = tag == "style"
        if "style" in values:
            self.styles.append(values["style"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])

    def handle_endtag(self, tag):
        self.is_style = False

    def handle_data(self, data):
        if self.is_style:
            self.styles.append(data)


def asked_by_style(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)


def check_pages(site):
    """What is wrong with requests and links, in words."""
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    pages = {name: Page(path.read_text(encoding="utf-8")) for name, path in files.items() if name.endswith(".html")}
    found = []
    for name, path in files.items():
        if name.endswith(".css"):
            found += [f"{name}: asks for {url}" for url in asked_by_style(path.read_text(encoding="utf-8")) if FOREIGN.match(url)]
    for name, page in pages.items():
        asked = page.asked + [url for style in page.styles for url in asked_by_style(style)]
        found += [f"{name}: asks for {url}" for url in asked if FOREIGN.match(url)]
        for url in [*page.links, *asked]:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            folder = pathlib.PurePosixPath(name).parent
            target = normal(folder, urllib.parse.unquote(parts.path)) if parts.path else name
            target = target if target in files else f"{target}/index.html".removeprefix("./")
            if target not in files:
                found.append(f"{name}: a link to nothing, {url}")
            elif parts.fragment and target in pages and url in page.links and urllib.parse.unquote(parts.fragment) not in pages[target].places | {"", "top"}:
                found.append(f"{name}: a link to no place of {target}, #{parts.fragment}")
    if not pages:
        found.append(f"expected pages in {site}, but got none")
    return found


def normal(folder, path):
    parts = []
    for part in (folder / path).parts:
        if part == "..":
            if not parts:
                return "outside of the site"
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or "."


def search(site, words):
    """Names of the pages that have all the words, in titles, texts or names of functions."""
    import snowballstemmer
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1:text.rindex(")")])
    stemmer = snowballstemmer.stemmer("english")
    listed = lambda value: value if isinstance(value, list) else [value]
    found = None
    for word in words.lower().split():
        stem = stemmer.stemWord(word)
        documents = {number for kind in ("terms", "titleterms") for term in (word, stem) for number in listed(index[kind].get(term, []))}
        found = documents if found is None else found & documents
    return [index["docnames"][number] for number in sorted(found or ())]


def main(arguments):
    if not arguments:
        sys.exit(f"{__doc__}\n\nerror: expected the folder of a site")
    site = pathlib.Path(arguments[0])
    found = check_pages(site)
    for wanted in arguments[1:]:
        words, _, page = wanted.partition("=")
        pages = search(site, words)
        if page not in pages:
            found.append(f"a search for '{words}' finds no {page}, but {len(pages)} pages: {', '.join(pages[:8])}")
    print("\n".join(found) if found else f"{sum(1 for _ in site.rglob('*.html'))} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
