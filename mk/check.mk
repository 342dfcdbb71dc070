# make check and its parts. tests/scripts/run-tests.sh joins all results.

FUZZ_SECONDS ?= 3
FUZZ_SEED ?= 1
CHECK_DIR := $(O)/check
RESULTS := $(CHECK_DIR)/results
RUN_TESTS = O="$(abspath $(O))" tests/scripts/run-tests.sh --results $(RESULTS)
TEST_SCRIPTS := $(wildcard tests/scripts/test-*.sh)

# Unit tests, the contract, the transports: the first tests of a change.
QUICK_TESTS := $(TESTS)

# ThreadSanitizer's runtime cannot start behind an instrumented preload library
# (docs/testing.md), so the trap ways run under the address sanitizer only.
TSAN_LEFT_OUT += $(filter %embedded_trap %daemon_trap,$(CONTRACT_TESTS))
# Nor has it anything to see in a program of one thread: models, loaders, the decoder.
THREADED_UNIT_TESTS = $(shell grep -lE 'pthread|daemon/|libmimic/(mimic|device|transport|base/(wait|probe|thread))$(foreach kind,$(KINDS),|"$(kind)\.h")' $(wildcard tests/unit/test_*.c))
# One thread, and the recordings of several are in the unit tests; some take long, and show no more there.
TSAN_LEFT_OUT += $(filter %model %recorded %timed %timed_walks,$(CONTRACT_TESTS))
# Limits of times, and of memory that the allocator gives back: a sanitizer changes both.
MEASURED_TESTS := $(addprefix $(O)/tests/transport/,test_daemon_turns test_daemon_wakes test_daemon_quota)
TSAN_LEFT_OUT += $(MEASURED_TESTS)
ASAN_LEFT_OUT += $(MEASURED_TESTS)
# tests/contract/NAME/names.mk says which programs of the contract are left out, and which of them WHOLE=1 has all the same.
SANITIZED_TESTS := $(filter-out $(ASAN_LEFT_OUT),$(TESTS))
SANITIZED_BINARIES := $(BINARIES)
ifeq ($(SANITIZE),thread)
# Only the trap ways run a program under mimic.
SANITIZED_BINARIES := $(filter-out $(O)/bin/mimic,$(BINARIES))
# This sanitizer calls handlers at a later moment of its own, and with a copy of the context.
THREADED_UNIT_TESTS_LEFT_OUT := tests/unit/test_hold.c
SANITIZED_TESTS := $(patsubst %.c,$(O)/%,$(filter-out $(THREADED_UNIT_TESTS_LEFT_OUT),$(THREADED_UNIT_TESTS))) \
	$(filter-out $(TSAN_LEFT_OUT) $(O)/tests/unit/%,$(TESTS))
endif
# So many programs at a time, and up to so many while processors are idle: most programs wait.
TEST_JOBS ?= $(shell nproc)
TEST_JOBS_MOST ?= 8
RUN_MANY = --jobs $(TEST_JOBS) --most $(TEST_JOBS_MOST) --again 3
# Unless make was told how many.
CHECK_JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j $(shell nproc))
# Enough for a report's lines; all that there is takes a fifth longer to compile.
SANITIZED_CFLAGS := -O1 -g1

.PHONY: check check-quick check-native check-asan check-tsan check-fuzz check-parts \
	check-build-asan check-build-tsan check-build-fuzz check-run-asan check-run-tsan check-run-fuzz \
	check-part-native check-part-asan check-part-tsan check-part-fuzz \
	check-later-asan check-later-tsan check-later-fuzz check-build-sanitized check-run-sanitized

check: packages-check
	$(Q)rm -rf $(CHECK_DIR)
	@echo "# building"
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) all tests
	$(Q)mkdir -p $(CHECK_DIR)
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) check-parts
	$(Q)$(RUN_TESTS) --summary

# One run after the other; programs of the later ones are built meanwhile, in the time that the
# tests leave: they come first.
check-parts: check-part-native check-part-asan check-part-tsan check-part-fuzz
check-part-asan: check-part-native check-later-asan
check-part-tsan: check-part-asan check-later-tsan
check-part-fuzz: check-part-tsan check-later-fuzz
check-later-tsan: check-later-asan
check-later-fuzz: check-later-tsan

check-part-native check-part-asan check-part-tsan check-part-fuzz: check-part-%:
	$(Q)$(MAKE) --no-print-directory check-$(if $(filter native,$*),,run-)$*

check-later-asan check-later-tsan check-later-fuzz: check-later-%:
	$(Q)nice -n 19 $(MAKE) --no-print-directory check-build-$* >$(CHECK_DIR)/build-$*.log 2>&1 || \
		{ cat $(CHECK_DIR)/build-$*.log; exit 1; }

check-quick: packages-tests
	$(Q)$(if $(strip $(QUICK_TESTS)),,echo "mimic: there are no tests without cmocka (Debian: libcmocka-dev)" >&2; exit 1)
	$(Q)rm -rf $(CHECK_DIR)
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) all $(QUICK_TESTS)
	@echo "# unit tests, the contract, the transports"
	$(Q)$(RUN_TESTS) $(RUN_MANY) --timeout 300 $(QUICK_TESTS)
	$(Q)$(RUN_TESTS) --summary

# Builds first: scripts among the tests call make, which must not change a library under the others.
check-native: docs-check
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) all tests
	$(Q)$(if $(strip $(TESTS)),,echo "mimic: there are no tests without cmocka (Debian: libcmocka-dev)" >&2; exit 1)
	@echo "# unit tests, the contracts five ways, the transports; scripts: programs under mimic run, commands, bad input"
	$(Q)$(RUN_TESTS) $(RUN_MANY) --timeout 600 $(TESTS) $(foreach script,$(TEST_SCRIPTS),"$(script) $(O)")

check-asan check-tsan check-fuzz: check-%:
	@echo "# $*: building"
	$(Q)$(MAKE) --no-print-directory $(CHECK_JOBS) check-build-$*
	$(Q)$(MAKE) --no-print-directory check-run-$*

# The build directories lie inside ours, so that `make clean` takes them along.
check-build-asan:
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan SANITIZE=address,undefined CFLAGS="$(SANITIZED_CFLAGS)" check-build-sanitized

check-build-tsan:
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan SANITIZE=thread CFLAGS="$(SANITIZED_CFLAGS)" check-build-sanitized

check-build-fuzz: fuzzers

check-build-sanitized: $(LIBRARIES) $(SANITIZED_BINARIES) $(SANITIZED_TESTS)

check-run-asan:
	@echo "# address and undefined behaviour sanitizers: unit, contract, transport"
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan SANITIZE=address,undefined check-run-sanitized RESULTS=$(RESULTS) LABEL=asan

check-run-tsan:
	@echo "# thread sanitizer: unit, contract, transport"
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan SANITIZE=thread check-run-sanitized RESULTS=$(RESULTS) LABEL=tsan

check-run-sanitized:
	$(Q)$(RUN_TESTS) --label $(LABEL) $(RUN_MANY) --timeout 600 $(SANITIZED_TESTS)

check-run-fuzz:
	@echo "# fuzzing, $(FUZZ_SECONDS) s each: $(notdir $(FUZZERS))"
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$(FUZZ_SEED) $(RUN_TESTS) \
		--timeout $$(( ($(FUZZ_SECONDS) + 60) * ($(words $(FUZZERS)) + 1) / 2 )) \
		"tests/scripts/run-fuzzers.sh $(CHECK_DIR)/fuzz $(FUZZERS)"
