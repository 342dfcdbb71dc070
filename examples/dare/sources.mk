# streams has more files.
EXAMPLES_WITH_RULES += examples/dare/streams.c
