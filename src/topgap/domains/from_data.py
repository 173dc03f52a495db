"""The mark of a list of items that the data made."""

from typing import Final


class FromData:
    """The type of `FROM_DATA`."""

    def __repr__(self) -> str:
        return "topgap.counting.FROM_DATA"


FROM_DATA: Final = FromData()
"""Take the items from the data. That somebody has an item is then not protected."""
