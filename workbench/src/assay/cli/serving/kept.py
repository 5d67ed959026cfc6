"""Pages that were made, kept as long as there is room."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class Kept:
    """Pages by what they were made from. The one that nobody asked for the longest goes first.

    Only one page is made at a time: each takes a processor and much memory. Those that are kept are given meanwhile.
    """

    def __init__(self, most: int) -> None:
        """Nothing is kept yet.

        Args:
            most: Bytes of all pages together; a larger page is made again each time.
        """
        self._most = most
        self._pages: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The page; `make` makes it if it is not kept, and whatever it raises is passed on."""
        page = self._look(key)
        if page is not None:
            return page
        with self._making:
            # Who waited may find that another one asked for the same.
            page = self._look(key)
            if page is None:
                page = make()
                self._keep(key, page)
        return page

    def _look(self, key: Hashable) -> bytes | None:
        with self._lock:
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
            return page

    def _keep(self, key: Hashable, page: bytes) -> None:
        with self._lock:
            self._pages[key] = page
            self._size += len(page)
            while self._size > self._most:
                _, gone = self._pages.popitem(last=False)
                self._size -= len(gone)
