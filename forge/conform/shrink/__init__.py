"""Cases made smaller while what they show stays: `forge shrink` (docs/shrink.md).

``nodes`` is a log as parts that can be taken away, ``columns`` and ``values`` make tables and cells smaller, ``passes``
are the kinds of parts in the order in which they are tried, ``search`` keeps what still shows it, ``outcomes`` says
what "shows it" means.
"""
