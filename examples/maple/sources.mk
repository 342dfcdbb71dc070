# loops has more files.
EXAMPLES_WITH_RULES += examples/maple/loops.c
