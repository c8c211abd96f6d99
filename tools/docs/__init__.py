"""The documents as a site: `python -m tools.docs` at the top of the project, or `make docs`.

The Markdown files stay what they are. `source` lays them out as Sphinx wants them, the other
modules write the reference from the code that it describes, and `__main__` runs Sphinx.
"""
