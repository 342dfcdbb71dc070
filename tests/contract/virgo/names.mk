# Left out: the recording, and the ways by library to the embedded device and by traps to the daemon, which
# DARE's programs check; the bare model, which is part of each way; virtual time, which is in the unit tests.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_virgo_%,model recorded embedded_library daemon_trap timed)
# Cases of one unit's results: their threads are those of all other cases.
TSAN_LEFT_OUT_CASES += $(patsubst %,tests/contract/virgo/cases_%.c,array moves_in moves_out norm norm_wide tiled \
	conv conv_by_definition conv_by_parts conv_depthwise conv_tiles)
# These take long, and another device's go the same way.
ifndef WHOLE
ASAN_LEFT_OUT += $(O)/tests/contract/test_contract_virgo_embedded_trap
TSAN_LEFT_OUT += $(O)/tests/contract/test_contract_virgo_embedded_library
endif
