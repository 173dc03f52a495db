"""The pictures of the pages, each made by a command.

python -m tools.pictures             all of them
python -m tools.pictures drawings    what is drawn from made-up numbers and exact laws
python -m tools.pictures terminal    what a terminal shows of a release
python -m tools.pictures reports     what Chromium shows of reports, light and dark
"""
