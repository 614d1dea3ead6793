"""The machinery of the book: executes chapters, collects verdicts, builds the site.

A chapter uses three names of it: ``signalbook.start.start``, ``signalbook.claims`` and
``signalbook.figures``. Nothing is imported here, so that the command line starts at once.
"""
