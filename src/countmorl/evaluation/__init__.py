"""Is this policy good, and how sure are we?"""
