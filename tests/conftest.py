"""Settings that all tests share."""

import hypothesis

# No deadline: a busy machine must not fail a test.
hypothesis.settings.register_profile("signalprop", deadline=None)
hypothesis.settings.load_profile("signalprop")
