"""The machinery of the book: executes chapters, collects verdicts, builds the site."""
