"""A cache of generated pages, limited in bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class PageCache:
    """A cache of pages; the least recently used page is dropped first.

    Only one page is made at a time, since each takes a processor and much memory; cached pages need not wait.
    """

    def __init__(self, most: int) -> None:
        """Start with an empty cache.

        Args:
            most: Bytes of all pages together; a larger page is made again for each request.
        """
        self._most = most
        self._pages: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the page for `key`; `make` makes it if it is not cached, and its errors are passed on."""
        page = self._look(key)
        if page is not None:
            return page
        with self._making:
            # While this thread waited, another may have made the same page.
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
                _, dropped = self._pages.popitem(last=False)
                self._size -= len(dropped)
