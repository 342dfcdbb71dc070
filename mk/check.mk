# make check and its parts. tests/scripts/run-tests.sh joins all results.

FUZZ_SECONDS ?= 25
FUZZ_SEED ?= 1
CHECK_DIR := $(O)/check
RESULTS := $(CHECK_DIR)/results
RUN_TESTS = O=$(abspath $(O)) tests/scripts/run-tests.sh --results $(RESULTS)
TEST_SCRIPTS := $(wildcard tests/scripts/test-*.sh)

# Unit tests, the contract, the transports: what a change is first tried with.
QUICK_TESTS := $(TESTS)

# ThreadSanitizer's runtime cannot start behind an instrumented preload library
# (docs/testing.md), so the trap ways run under the address sanitizer only.
TSAN_LEFT_OUT := $(filter %embedded_trap %daemon_trap,$(CONTRACT_TESTS))
# Nor has it anything to see in a program of one thread: models, loaders, the decoder.
THREADED_UNIT_TESTS = $(shell grep -lE 'pthread|daemon/|libmimic/(mimic|device|transport|base/(wait|probe|thread))$(foreach kind,$(KINDS),|"$(kind)\.h")' $(wildcard tests/unit/test_*.c))
# One thread, and the recordings of several are in the unit tests; some take long, and show no more there.
TSAN_LEFT_OUT += $(filter %model %recorded %timed %timed_walks,$(CONTRACT_TESTS))
# tests/contract/NAME/names.mk says which programs ASAN_LEFT_OUT has.
SANITIZED_TESTS := $(filter-out $(ASAN_LEFT_OUT),$(TESTS))
ifeq ($(SANITIZE),thread)
SANITIZED_TESTS := $(patsubst %.c,$(O)/%,$(THREADED_UNIT_TESTS)) $(filter-out $(TSAN_LEFT_OUT) $(O)/tests/unit/%,$(TESTS))
endif
# Programs run side by side: most of them wait, or use one CPU.
TEST_JOBS ?= 2
# Unless make was told how many.
CHECK_JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j $(shell nproc))

.PHONY: check check-quick check-native check-asan check-tsan check-fuzz \
	check-build-sanitized check-run-sanitized check-start check-summary

check: packages-check
	$(Q)rm -rf $(CHECK_DIR)
	@echo "# building"
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) all tests fuzzers
	$(Q)$(MAKE) --no-print-directory check-native
	$(Q)$(MAKE) --no-print-directory check-asan
	$(Q)$(MAKE) --no-print-directory check-tsan
	$(Q)$(MAKE) --no-print-directory check-fuzz
	$(Q)$(RUN_TESTS) --summary

check-quick: packages-tests
	$(Q)rm -rf $(CHECK_DIR)
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) all $(QUICK_TESTS)
	@echo "# unit tests, the contract, the transports"
	$(Q)$(RUN_TESTS) $(QUICK_TESTS)
	$(Q)$(RUN_TESTS) --summary

check-native: docs-check
	@echo "# unit tests, the contracts five ways, the transports"
	$(Q)$(RUN_TESTS) --jobs $(TEST_JOBS) --timeout 300 $(TESTS)
	@echo "# scripts: programs under mimic run, commands, bad input"
	$(Q)$(RUN_TESTS) --timeout 300 $(foreach script,$(TEST_SCRIPTS),"$(script) $(abspath $(O))")

# The build directories lie inside ours, so that `make clean` takes them along.
check-asan:
	@echo "# address and undefined behaviour sanitizers: building"
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) O=$(O)/asan SANITIZE=address,undefined CFLAGS="-O1 -g" check-build-sanitized
	@echo "# address and undefined behaviour sanitizers: unit, contract, transport"
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan SANITIZE=address,undefined check-run-sanitized \
		RESULTS=$(RESULTS) LABEL=asan

check-tsan:
	@echo "# thread sanitizer: building"
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) O=$(O)/tsan SANITIZE=thread CFLAGS="-O1 -g" check-build-sanitized
	@echo "# thread sanitizer: unit, contract, transport"
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan SANITIZE=thread check-run-sanitized \
		RESULTS=$(RESULTS) LABEL=tsan

check-build-sanitized: $(LIBRARIES) $(BINARIES) $(SANITIZED_TESTS)

check-run-sanitized:
	$(Q)$(RUN_TESTS) --label $(LABEL) --jobs $(TEST_JOBS) --timeout 600 $(SANITIZED_TESTS)

check-fuzz:
	@echo "# fuzzing, $(FUZZ_SECONDS) s each: $(notdir $(FUZZERS))"
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$(FUZZ_SEED) $(RUN_TESTS) \
		--timeout $$(( ($(FUZZ_SECONDS) + 60) * ($(words $(FUZZERS)) + 1) / 2 )) \
		"tests/scripts/run-fuzzers.sh $(CHECK_DIR)/fuzz $(FUZZERS)"
