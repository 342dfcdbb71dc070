# As for dare.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_virgo_%,recorded embedded_library daemon_trap)
