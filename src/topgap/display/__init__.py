"""How results are shown: text, tables, data frames and charts of plain values. Internal."""
