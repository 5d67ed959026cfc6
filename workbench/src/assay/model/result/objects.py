"""What is known of the objects of a result besides its rates."""

from assay.model.frozen import Frozen


class ExistingObjects(Frozen):
    """Objects that were there before a repeat.

    Attributes:
        listed: In the list.
        listed_bytes: All of them together.
        objects: That were drawn for the lanes.
        bytes: These together.
        smallest_bytes: The smallest that was drawn.
        median_bytes: Half of those that were drawn are at most so large.
        largest_bytes: The largest that was drawn.
    """

    listed: int
    listed_bytes: int
    objects: int
    bytes: int
    smallest_bytes: int
    median_bytes: int
    largest_bytes: int
