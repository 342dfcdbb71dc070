# The recording is looked at with DARE; the bare model is in all ways; embedded by library and daemon by traps go through
# all that these two do; virtual time is in the unit tests.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_virgo_%,model recorded embedded_library daemon_trap timed)
# What one unit computes: the threads are the same as in all other cases.
TSAN_LEFT_OUT_CASES += $(patsubst %,tests/contract/virgo/cases_%.c,array moves_in moves_out norm norm_wide tiled \
	conv conv_by_definition conv_by_parts conv_depthwise conv_tiles)
# Long, and another device's goes the same way.
ifndef WHOLE
ASAN_LEFT_OUT += $(O)/tests/contract/test_contract_virgo_embedded_trap
TSAN_LEFT_OUT += $(O)/tests/contract/test_contract_virgo_embedded_library
endif
