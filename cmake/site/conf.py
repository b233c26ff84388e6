# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration. cmake/make_site.py has written the pages, and says where things are by its environment."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "runtime" / "python")]
import docstrings
import mlir_lexer
from docutils import nodes
from sphinx.util.images import get_image_size

project, author, copyright = "Taylor", "The Taylor authors", "The Taylor authors, Apache-2.0 with LLVM exceptions"
version = release = os.environ["TAYLOR_SITE_VERSION"]
# No extension that reads another host: no intersphinx, no MathJax (formulas are text).
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 6  # links to headings, named as GitHub names them
myst_links_external_new_tab = False
highlight_language = "text"
# Snippets of documentation leave parts out (`..`): they are coloured as far as they go.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = f"Taylor {version}"
html_extra_path = [os.environ["TAYLOR_SITE_EXTRA"]]
html_static_path, html_css_files = ["site.css"], ["site.css"]
html_copy_source, html_show_sourcelink = False, False
html_last_updated_fmt = None  # equal sources give equal pages
# The same page wherever it is built: neither torch nor the library is loaded for the names of functions.
autodoc_mock_imports = ["torch", "transformers", "taylor_attention.operators", "taylor_attention.autograd"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100


def open_pictures(app, page):
    """A picture leads to itself, in its own size: figures are wider than pages. Sphinx makes that link where a size is given."""
    for picture in page.findall(nodes.image):
        size = get_image_size(pathlib.Path(app.srcdir, picture["uri"]))
        if size:
            picture["width"] = f"{size[0]}px"


def setup(app):
    app.add_lexer("mlir", mlir_lexer.MlirLexer)
    app.connect("doctree-read", open_pictures)
    app.connect("autodoc-process-docstring", docstrings.process)
