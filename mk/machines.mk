# Virtual machines of stock kernels with devices on their PCI bus: mimic vm, and make check-vm.

VM_SHARE := $(addprefix $(O)/share/mimic/vm/,vm.sh fetch.sh apt.sh in-tree.sh extract-vmlinux.sh guest-init)
# Headers that a driver in a guest includes: the build directory has them where an installed mimic has them.
GUEST_H := $(addprefix include/mimic/,pci.h access.h command.h lane.h protocol.h ring.h) $(INSTALL_KIND_H)
GUEST_HEADERS := $(filter-out $(SIM_HEADERS),$(addprefix $(O)/include/mimic/,$(notdir $(GUEST_H))))

all: $(VM_SHARE) $(GUEST_HEADERS)

$(VM_SHARE): $(O)/share/mimic/vm/%: tools/vm/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(foreach header,$(GUEST_H),$(eval $(O)/include/mimic/$(notdir $(header)): $(header)))
$(GUEST_HEADERS):
	@mkdir -p $(@D)
	$(Q)cp $< $@

# The folder of downloads; and the machines, as ARCH-KERNEL-LEVELS: of each kind one, or with WHOLE=1 all.
MACHINES_CACHE ?= $(O)/machines
MACHINES_ALL := x86_64-6.12-4 x86_64-6.12-5 x86_64-newest-5 riscv64-6.12-3 riscv64-6.12-4 riscv64-6.12-5
MACHINES ?= $(if $(WHOLE),$(MACHINES_ALL),x86_64-6.12-4 riscv64-6.12-3)
# Scripts at a time: a machine has two processors.
MACHINES_JOBS ?= 1
MACHINES_RESULTS := $(O)/check-vm/results
# For programs of the libraries.
MACHINES_LIBRARY = $(filter x86_64-6.12-% riscv64-6.12-3,$(MACHINES))
# By traps, which take longer: cases with this in their names, or with WHOLE=1 all.
MACHINES_TRAPPING = $(filter x86_64-6.12-4 $(if $(WHOLE),riscv64-6.12-3),$(MACHINES))
MACHINES_TRAPS ?= $(if $(WHOLE),,pointer)
# A contract takes a minute there.
MACHINES_CONTRACTS ?= $(if $(WHOLE),$(KINDS),$(firstword $(KINDS)))
# Checked accesses of memory that changes.
MACHINES_ACCESSES ?= $(if $(WHOLE),1000000,200000)
MACHINES_SCRIPTS = "tests/machines/test-pci.sh $(O) $(MACHINES_CACHE) $(MACHINES)" \
	"tests/machines/test-drivers.sh $(O) $(MACHINES_CACHE) $(MACHINES)" \
	$(if $(MACHINES_LIBRARY),"tests/machines/test-library.sh $(O) $(MACHINES_CACHE) $(MACHINES_LIBRARY)") \
	$(if $(MACHINES_TRAPPING),"tests/machines/test-traps.sh $(O) $(MACHINES_CACHE) $(MACHINES_TRAPPING)") \
	$(if $(filter x86_64-6.12-4,$(MACHINES)),"tests/machines/test-plugged.sh $(O) $(MACHINES_CACHE)")

.PHONY: check-vm packages-vm
packages-vm:
	$(Q)$(PACKAGES) build tests machines

# Downloads first: without a network they name once the files that are missing.
check-vm: packages-vm all $(CONTRACTS) | $(O)/vm/linux-source
	$(Q)tests/machines/fetch-all.sh $(O) $(MACHINES_CACHE) $(MACHINES)
	$(Q)rm -rf $(dir $(MACHINES_RESULTS)) && mkdir -p $(dir $(MACHINES_RESULTS))
	$(Q)O="$(abspath $(O))" CONTRACTS="$(MACHINES_CONTRACTS)" FOREIGN_CONTRACTS="$(if $(WHOLE),$(KINDS))" \
		TRAPS=$(MACHINES_TRAPS) ACCESSES=$(MACHINES_ACCESSES) \
		tests/scripts/run-tests.sh --results $(MACHINES_RESULTS) --jobs $(MACHINES_JOBS) \
		--timeout 1800 $(MACHINES_SCRIPTS)
	$(Q)tests/scripts/run-tests.sh --results $(MACHINES_RESULTS) --summary

# The cost of a trap and of a lane there: software emulation, so only ratios mean something.
.PHONY: bench-vm
BENCH_INSTANT := $(O)/bench/bench-instant
BENCH_VM_ARCH ?= x86_64
bench-vm: packages-vm all $(BENCH_INSTANT)
	@echo "Measuring in a virtual machine; takes a minute, and wants a quiet machine with two CPUs."
	$(Q)bench/machines/run.sh $(O) $(MACHINES_CACHE) $(BENCH_VM_ARCH)

$(BENCH_INSTANT): $(call obj,bench/machines/instant.c)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -pthread
