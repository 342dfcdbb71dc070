EXAMPLES_WITH_RULES += examples/virgo/gemm_stores.c
