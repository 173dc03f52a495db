"""How results are shown: text tables, data frames, charts."""
