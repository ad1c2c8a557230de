"""Signals while Python hears nothing, as when XLA calculates for minutes."""

import signal
import subprocess
import sys

DEAF = """
import ctypes, os, signal, sys
from countmorl import cli

read = os.read

def tell(file, size):
    heard = read(file, size)
    print("heard", flush=True)
    return heard

def wait(arguments):
    signal.signal(signal.SIGINT, lambda *_: None)  # Python itself does nothing, whenever it comes.
    lock, libc = ctypes.create_string_buffer(128), ctypes.CDLL(None)
    libc.pthread_mutex_lock(lock)
    print("deaf", flush=True)
    libc.pthread_mutex_lock(lock)  # Never returns, whatever signals come.

cli._run, os.read = wait, tell
sys.argv = ["countmorl", "train"]
sys.exit(cli.main())
"""
"""A command that never ends; it says when its watching thread has heard of a signal."""


def test_a_second_ctrl_c_ends_the_process_at_once():
    words = [sys.executable, "-c", DEAF]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "deaf\n"
            run.send_signal(signal.SIGINT)
            # Two that come before the first is heard are one: the second waits for that.
            assert run.stdout.readline() == "heard\n"
            assert run.poll() is None
            run.send_signal(signal.SIGINT)
            assert (run.wait(), run.stderr.read()) == (130, "Stopped.\n")
        finally:
            run.kill()
