"""Facts about the objects of a result, apart from rates."""

from assay.model.frozen import Frozen


class ExistingObjects(Frozen):
    """Objects that existed before a repeat.

    Attributes:
        listed: Number of listed objects.
        listed_bytes: Total size of the listed objects.
        objects: Number of objects that were drawn for the lanes.
        bytes: Total size of the drawn objects.
        smallest_bytes: Size of the smallest drawn object.
        median_bytes: Median size of the drawn objects.
        largest_bytes: Size of the largest drawn object.
    """

    listed: int
    listed_bytes: int
    objects: int
    bytes: int
    smallest_bytes: int
    median_bytes: int
    largest_bytes: int
