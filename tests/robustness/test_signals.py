"""Signals while Python hears nothing, as when XLA calculates for minutes."""

import signal
import subprocess
import sys

DEAF = """
import ctypes, sys
from countmorl import cli

def wait(arguments):
    lock, libc = ctypes.create_string_buffer(128), ctypes.CDLL(None)
    libc.pthread_mutex_lock(lock)
    print("deaf", flush=True)
    libc.pthread_mutex_lock(lock)  # Never returns, whatever signals come.

cli._run = wait
sys.argv = ["countmorl", "train"]
sys.exit(cli.main())
"""


def test_a_second_ctrl_c_ends_the_process_at_once():
    words = [sys.executable, "-c", DEAF]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "deaf\n"
            for _ in range(50):  # Two that come too close to each other are heard as one.
                run.send_signal(signal.SIGINT)
                try:
                    code = run.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    continue
            else:
                raise AssertionError("It lives on.")
            assert (code, run.stderr.read()) == (130, "Stopped.\n")
        finally:
            run.kill()
