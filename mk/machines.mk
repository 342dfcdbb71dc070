# Virtual machines of stock kernels with devices on their PCI bus: mimic vm, and make check-vm.

VM_SHARE := $(addprefix $(O)/share/mimic/vm/,vm.sh fetch.sh apt.sh in-tree.sh extract-vmlinux.sh guest-init)
# What a driver in a guest includes: the build directory has it where an installed mimic has it.
GUEST_H := $(addprefix include/mimic/,pci.h access.h command.h lane.h ring.h) $(INSTALL_KIND_H)
GUEST_HEADERS := $(filter-out $(SIM_HEADERS),$(addprefix $(O)/include/mimic/,$(notdir $(GUEST_H))))

all: $(VM_SHARE) $(GUEST_HEADERS)

$(VM_SHARE): $(O)/share/mimic/vm/%: tools/vm/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(foreach header,$(GUEST_H),$(eval $(O)/include/mimic/$(notdir $(header)): $(header)))
$(GUEST_HEADERS):
	@mkdir -p $(@D)
	$(Q)cp $< $@

# What was downloaded; and which machines, as ARCH-KERNEL-LEVELS.
MACHINES_CACHE ?= $(O)/machines
MACHINES ?= x86_64-6.12-4 x86_64-newest-5 riscv64-6.12-3 riscv64-6.12-5

.PHONY: check-vm packages-vm
packages-vm:
	$(Q)$(PACKAGES) build tests machines

check-vm: packages-vm all $(CONTRACTS) | $(O)/vm/linux-source
	$(Q)tests/scripts/run-tests.sh --timeout 1800 "tests/machines/test-pci.sh $(O) $(MACHINES_CACHE) $(MACHINES)" \
		"tests/machines/test-drivers.sh $(O) $(MACHINES_CACHE) $(MACHINES)" \
		"tests/machines/test-library.sh $(O) $(MACHINES_CACHE) $(filter x86_64-6.12-% riscv64-6.12-3,$(MACHINES))"

# What a trap and a lane cost there: software emulation, so only ratios mean something.
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
