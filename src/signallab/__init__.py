"""What the chapters run: one folder a part, one module a chapter, each function tested.

A chapter tells; the functions here compute. They return data frames, arrays or :class:`Case`, and
know nothing of pages, verdicts or Jupyter.
"""
