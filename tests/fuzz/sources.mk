# Sources of the fuzz targets beside the product's own (Makefile).

# References that give the right answers, in tests/lib too.
FUZZ_REFERENCE_SRC := tests/lib/dare_oracle.c $(wildcard tests/lib/virgo_reference*.c) tests/lib/half.c
FUZZ_TEST_SRC := $(filter-out $(FUZZ_SRC),$(wildcard tests/fuzz/*.c)) $(FUZZ_REFERENCE_SRC)
FUZZ_ORACLE_SRC := $(FUZZ_REFERENCE_SRC) $(patsubst %,tests/fuzz/%.c,dare_expected dare_side virgo_expected virgo_side)
# Where products are computed, and where registers are compared after every step: comparisons
# there teach a fuzzer nothing, and to tell them takes longer than to make them.
FUZZ_QUIET_SRC := devices/virgo/array.c devices/dare/context.c tests/fuzz/fuzz_dare.c
