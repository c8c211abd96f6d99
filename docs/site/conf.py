"""How Sphinx makes the site: `make docs`."""

from importlib import metadata

project = "nearcast"
release = metadata.version("nearcast")
copyright = "the authors of nearcast"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
source_suffix = {".md": "markdown"}

myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
default_role = "code"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrowTable": "ArrowTable"}
napoleon_google_docstring = False
napoleon_use_rtype = False
maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"nearcast {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
templates_path: list[str] = []
