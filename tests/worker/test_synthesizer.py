"""Every block of audio is checked."""

import subprocess
import sys

import pytest

CHECK = """
import numpy as np
from engines.worker.problems import Problem
from engines.worker.synthesizer import check
check(np.array([0.0, 1.2, -4.0], np.float32))
check(np.zeros(0, np.float32))
try:
    check(np.array([0.0, {bad}], np.float32))
except Problem as problem:
    assert (problem.status, problem.code) == (500, "bad_audio")
else:
    raise AssertionError("accepted")
"""


@pytest.mark.parametrize("bad", ["np.nan", "np.inf", "-np.inf", "1e35", "-4.1"])
def test_samples_that_are_no_audio_are_a_fault(bad: str) -> None:
    """NaN, infinities and huge values are refused; a peak a little over 1 is audio. In a process of its own: GPL."""
    subprocess.run([sys.executable, "-c", CHECK.format(bad=bad)], check=True)
