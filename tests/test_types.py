import subprocess
import sys

from countmorl.types import Transition


def test_a_transition_names_its_five_parts_in_order():
    assert Transition._fields == ("obs", "action", "reward", "next_obs", "terminated")


def test_types_do_not_import_jax():
    program = "import sys, countmorl.types; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
