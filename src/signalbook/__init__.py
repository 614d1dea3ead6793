"""The machinery of the book: executes chapters, collects verdicts, builds the site.

A chapter uses ``signalbook.start``, ``checks`` and ``settle``, ``prose``, ``figures`` and
``draw``. Nothing is imported here, so that the command line starts at once.
"""
