"""What holds for every test: how Hypothesis looks for counterexamples, and that interrupts arrive.

Never holds a fixture that only one folder needs; that folder has a conftest of its own.
"""

import os
import signal

from hypothesis import HealthCheck, Phase, settings

# A machine under load is no counterexample, so no example has a deadline; pytest-timeout bounds the test.
settings.register_profile("dev", deadline=None, print_blob=True)
# The same examples at every run: a red run means that this change is wrong, and can be repeated.
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
# By hand, before a release: HYPOTHESIS_PROFILE=long make test
settings.register_profile("long", settings.get_profile("dev"), max_examples=5000)

# For mutations of the code, each of which meets every test: few examples, and the first that fails will do.
settings.register_profile(
    "few", settings.get_profile("ci"), max_examples=20, phases=[Phase.explicit, Phase.generate]
)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if "CI" in os.environ else "dev"))

# A shell that starts the tests in the background has them, and every daemon they start, ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
