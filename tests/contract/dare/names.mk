# The ways that MAPLE leaves out are here. Each device has both sides of each: traps and library, embedded and daemon.
# The bare model is in all ways.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_dare_%,embedded_trap daemon_library model)
# Long, and another device's goes the same way.
ifndef WHOLE
ASAN_LEFT_OUT += $(O)/tests/contract/test_contract_dare_timed
TSAN_LEFT_OUT += $(O)/tests/contract/test_contract_dare_embedded_library
endif
