"""What spoils a run, one kind of test a file; `countmorl.data.check` asks them all.

A test takes `Fields` and yields findings. It says nothing where it cannot tell, and costs no more
than a few passes over the data.
"""
