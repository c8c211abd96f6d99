"""Which pages the site has: the tracked documents at their places, and the generated reference.

`docs/README.md` is the table of contents, for readers of the repository and for the site: a heading
is a part of the navigation, and a link in a list below it is a page. Decisions, and documents that
it does not list, follow in parts of their own.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

from tools.docs import command_line, events, http_api, index_kinds, python_api, settings

ROOT = Path(__file__).parent.parent.parent
CONTENTS = "docs/README.md"
REFERENCE = {
    "python": python_api.page,
    "command-line": command_line.page,
    "events": events.page,
    "http": http_api.page,
    "settings": settings.page,
    "index-kinds": index_kinds.page,
}
"""Pages of the reference, and what writes them."""

_ROOT_PAGES = ("README", "DESIGN", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
_FILES = ("docs/**/*", "changes/README.md", "LICENSE", "src/nearcast/**/*.json")
_LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))")
_ENTRY = re.compile(r"^- \[[^\]]*\]\(([^)#]+)\.md\)", re.M)


def write_source(folder: Path) -> None:
    """Write everything that Sphinx reads to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in tracked():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            target.write_text(with_first_page(text, path), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / path, target)
    reference = folder / "reference"
    reference.mkdir()
    for name, page in REFERENCE.items():
        (reference / f"{name}.md").write_text(page(), encoding="utf-8")
    contents = (folder / CONTENTS).read_text(encoding="utf-8")
    (folder / CONTENTS).unlink()
    (folder / "index.md").write_text(index(contents), encoding="utf-8")


def tracked() -> list[str]:
    """Return the documents, by their paths from the top of the project."""
    found = [f"{name}.md" for name in _ROOT_PAGES]
    for pattern in _FILES:
        found += [str(p.relative_to(ROOT)) for p in sorted(ROOT.glob(pattern)) if p.is_file()]
    return [path for path in found if not path.startswith("docs/site/")]


def index(contents: str) -> str:
    """Return the first page: the table of contents, its links seen from the top of the site."""
    text = _LINK.sub(lambda m: m[1] + from_top(m[2]) + (m[3] or "") + m[4], contents)
    parts = re.split(r"^## ", text, flags=re.M)
    trees = {part.partition("\n")[0]: _ENTRY.findall(part) for part in parts[1:]}
    listed = {page for pages in trees.values() for page in pages}
    others = [path.removesuffix(".md") for path in tracked() if path.endswith(".md")]
    more = [page for page in others if page not in listed and f"{page}.md" != CONTENTS]
    trees |= {
        "Reference": [f"reference/{name}" for name in REFERENCE],
        "Decisions": [page for page in more if page.startswith("docs/adr/")],
        "More": [page for page in more if not page.startswith("docs/adr/")],
    }
    shown = "\n".join(_list(name, trees[name]) for name in ("Reference", "Decisions", "More"))
    return f"{text}\n{shown}\n{''.join(_tree(*tree) for tree in trees.items())}"


def _list(caption: str, pages: list[str]) -> str:
    listed = "".join(f"- {{doc}}`{page}`\n" for page in pages)
    return f"## {caption}\n\n{listed}" if pages else ""


def with_first_page(text: str, path: str) -> str:
    """Return a document whose links to the table of contents lead to the first page of the site."""
    folder = posixpath.dirname(path)
    first = posixpath.relpath("index.md", folder or ".")

    def changed(found: re.Match[str]) -> str:
        leads_to = posixpath.normpath(posixpath.join(folder, found[2]))
        return f"{found[1]}{first}{found[4]}" if leads_to == CONTENTS else found[0]

    return _LINK.sub(changed, text)


def from_top(link: str) -> str:
    """Return where a link of the table of contents leads, from the top.

    Examples
    --------
    >>> from_top("guides/languages.md"), from_top("../DESIGN.md")
    ('docs/guides/languages.md', 'DESIGN.md')
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(CONTENTS), link))


def _tree(caption: str, pages: list[str]) -> str:
    if not pages:
        return ""
    listed = "\n".join(pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n\n"
