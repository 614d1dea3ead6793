"""The one exception that users of the book meet: it names the thing and the remedy."""


class BookError(Exception):
    """Something a person can put right; its message says what and how.

    The command line prints it without a traceback and exits with code 1.
    """
