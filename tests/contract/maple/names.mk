# MAPLE was the only device when its programs got their names: test_contract_embedded_trap.
CONTRACT_NAME_maple := test_contract_
# As for DARE, the other way round. The bare model is in all ways, and virtual time with walks has all of it without.
ASAN_LEFT_OUT += $(patsubst %,$(O)/tests/contract/test_contract_%,recorded embedded_library daemon_trap model timed)
# Long, and other devices' go the same way.
ifndef WHOLE
TSAN_LEFT_OUT += $(O)/tests/contract/test_contract_daemon_library
endif
