# Embedded by traps and daemon by library go through all that these do.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_dare_%,embedded_library daemon_trap)
