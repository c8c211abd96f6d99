"""How is each kind of experiment measured? One file per kind, by the project's own benchmarks."""
