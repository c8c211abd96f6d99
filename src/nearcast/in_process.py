"""What cannot leave its process? What lives in the memory of the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from nearcast.errors import NotCopyableError

if TYPE_CHECKING:
    from typing import NoReturn, SupportsIndex


class InProcess:
    """Refuses `pickle` and `copy`, and says what to do instead.

    Examples
    --------
    >>> import copy
    >>> from nearcast import Hub
    >>> try:
    ...     copy.copy(Hub())
    ... except NotCopyableError as error:
    ...     print(error)
    a Hub cannot be copied or pickled; hint: save it to a file, open that in the other process
    """

    copy_hint: ClassVar[str] = "save it to a file, open that in the other process"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse: `pickle`, `copy.copy` and `copy.deepcopy` all come here."""
        what = f"a {type(self).__name__} cannot be copied or pickled"
        raise NotCopyableError(what, hint=self.copy_hint)
