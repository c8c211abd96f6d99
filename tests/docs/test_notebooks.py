"""The notebooks run from their first cell to the last, and are kept without large outputs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 100_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_small(path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [cell.get("outputs", []) for cell in cells]
    assert len(json.dumps(outputs)) < MOST_BYTES


def marks(path: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow, *([pytest.mark.spark] if "spark" in path.stem else [])]


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=marks(path), id=path.stem) for path in NOTEBOOKS]
)
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own threads and files
def test_a_notebook_runs(path, tmp_path, monkeypatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for needed in ("ipykernel", "matplotlib", "pandas"):
        pytest.importorskip(needed)
    if "spark" in path.stem:
        pytest.importorskip("pyspark")
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            pytest.skip("Java is not installed")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("NEARCAST_DATA", raising=False)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    pictures = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2
