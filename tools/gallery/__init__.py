"""The gallery: six finished reports, from public and made-up data, and the page that lists them.

    python -m tools.gallery [folder]

The folder has the public files, ../shared/data unless given; docs/gallery.md says which. Each run
releases anew, so the noise is new. That is no loss of privacy here: the data are public.
"""
