# make check-arches: all of it is built for other architectures (make ARCH=arm64, tests/arches/cross.mk), and their
# tests run by qemu-user. A part, which is CI's; with WHOLE=1 all unit tests, and the contracts of all devices.

ARCHES ?= arm64 riscv64
ARCHES_DIR := $(O)/check-arches

.PHONY: check-arches packages-arches
packages-arches:
	$(Q)$(PACKAGES) build tests arches

# With mimicd of this machine: qemu-user has no process_vm_readv(), by which a daemon reads its clients' memory.
check-arches: packages-arches $(O)/bin/mimicd
	$(Q)rm -rf $(ARCHES_DIR) && mkdir -p $(ARCHES_DIR)
	$(Q)for arch in $(ARCHES); do \
		$(MAKE) --no-print-directory $(CHECK_JOBS) ARCH=$$arch O=$(O)/$$arch ARCH_CACHE=$(O)/arches \
			ARCH_DAEMON=$(O)/bin/mimicd RESULTS=$(ARCHES_DIR)/results check-arch || exit; \
	done
	$(Q)tests/scripts/run-tests.sh --results $(ARCHES_DIR)/results --summary

ifneq ($(ARCH_TRIPLET),)

# --- one architecture --------------------------------------------------------------------------

include tests/arches/tests.mk
arch_units = $(patsubst %,$(O)/tests/unit/test_%,$(1))
ARCH_UNITS := $(filter-out $(call arch_units,$(ARCH_NOT_BUILT) $(ARCH_NOT_THERE)),$(filter $(O)/tests/unit/%,$(TESTS)))

# Contracts: which ways are there, and of those with a daemon (below) which.
ARCH_WAYS := %model %recorded %timed %embedded_library %embedded_trap
ARCH_DAEMON_WAYS := %daemon_library %daemon_trap
ARCH_CONTRACTS := $(filter $(addprefix $(O)/tests/contract/,$(ARCH_WAYS)),$(CONTRACT_TESTS))
ARCH_DAEMON_CONTRACTS := $(filter $(addprefix $(O)/tests/contract/,$(ARCH_DAEMON_WAYS)),$(CONTRACT_TESTS))
# The first device's, of which those of pointers.
ARCH_PATTERN := $(if $(WHOLE),,pointer)
ARCH_KIND := $(firstword $(KINDS))
ARCH_QUICK = $(addprefix $(O)/tests/contract/$(or $(CONTRACT_NAME_$(ARCH_KIND)),test_contract_$(ARCH_KIND)_),$(1))
ifeq ($(WHOLE),)
ARCH_UNITS := $(call arch_units,$(ARCH_PART))
ARCH_CONTRACTS := $(call ARCH_QUICK,model embedded_library embedded_trap)
ARCH_DAEMON_CONTRACTS := $(call ARCH_QUICK,daemon_library daemon_trap)
endif

# A build directory whose mimicd is this machine's.
ARCH_BESIDE := $(O)/beside
beside = $(patsubst $(O)/%,$(ARCH_BESIDE)/%,$(1))
ARCH_RUNS = $(ARCH_UNITS) $(foreach test,$(ARCH_CONTRACTS) $(call beside,$(ARCH_DAEMON_CONTRACTS)),"$(test) $(ARCH_PATTERN)")

ARCH_ATOMIC := $(O)/tests/arches/atomic
$(ARCH_ATOMIC): tests/arches/atomic.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) -std=gnu11 $(UNMODIFIED_FLAGS) -o $@ $<

.PHONY: check-arch beside
beside: $(ARCH_DAEMON_CONTRACTS) $(LIBRARIES) $(O)/bin/mimic
	$(Q)rm -rf $(ARCH_BESIDE) && mkdir -p $(ARCH_BESIDE)/bin $(ARCH_BESIDE)/tests
	$(Q)cp -al $(O)/lib $(ARCH_BESIDE)/lib && cp -al $(O)/tests/contract $(ARCH_BESIDE)/tests/
	$(Q)cp -l $(O)/bin/mimic $(ARCH_BESIDE)/bin/ && cp $(ARCH_DAEMON) $(ARCH_BESIDE)/bin/

check-arch: all $(ARCH_UNITS) $(ARCH_CONTRACTS) $(ARCH_ATOMIC) beside
	@echo "# $(ARCH): unit tests and contracts by qemu-user"
	$(Q)tests/arches/with-qemu.sh $(ARCH) $(ARCH_ROOT) tests/scripts/run-tests.sh --results $(RESULTS) --label $(ARCH) \
		$(RUN_MANY) --timeout 900 $(ARCH_RUNS) "tests/arches/test-programs.sh $(O)"

endif
