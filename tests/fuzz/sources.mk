# What the fuzz targets are made of beside the product's own sources (Makefile).

# What says which answers are right, in tests/lib too.
FUZZ_REFERENCE_SRC := tests/lib/dare_oracle.c $(wildcard tests/lib/virgo_reference*.c) tests/lib/half.c
FUZZ_TEST_SRC := $(filter-out $(FUZZ_SRC),$(wildcard tests/fuzz/*.c)) $(FUZZ_REFERENCE_SRC)
FUZZ_ORACLE_SRC := $(FUZZ_REFERENCE_SRC) $(patsubst %,tests/fuzz/%.c,dare_expected dare_side virgo_expected virgo_side)
# The loops of a device's products.
FUZZ_PRODUCT_SRC := devices/virgo/array.c
