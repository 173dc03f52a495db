"""Scripts of the build, run by `make check`, `make docs` and `make package`."""
