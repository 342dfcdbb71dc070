# Kernels in virtual machines: make check-kernel, demo-kernel, vm-shell and their
# parts. tests/vm/ holds the scripts, docs/vm.md says how they work together.
# KERNEL=6.1, 6.12, newest, rt, smp4 (6.12 with four processors), debug or kcsan where one kernel is meant.

KERNELS ?= 6.1 6.12 newest
KERNEL ?= 6.12
VM := $(O)/vm
# Kernels that fetch-kernel.sh knows; debug and kcsan are built.
FETCHED := 6.1 6.12 rt newest
VM_RESULTS := $(VM)/results
VM_SUMMARY = tests/scripts/run-tests.sh --results $(VM_RESULTS)
# Of one test program, of one whole run; seconds. MiB. Programs end in a third of it where
# nothing else runs: others on the host are no reason to fail.
VM_EACH ?= 180
VM_TIMEOUT ?= 1800
VM_MEMORY ?= 1024
# Of check-kernel-repeat.
RUNS ?= 20
# How the daemon is started for demo-kernel and vm-shell, and the demo in the guest.
MIMICD_KERNEL_OPTIONS ?= --foreground --kernel=required
# A smaller input: the processor is emulated, too.
DEMO_KERNEL_COMMAND ?= /mimic/bin/mimic-demo --scale 12 --transport kernel
# Factor of limits inside a guest.
VM_TIME_SCALE ?= 1
VM_PROCESSORS ?= 2
ifeq ($(KERNEL),smp4)
# Of the host's there may be two only, and then a processor often waits for one that has no turn.
VM_TIME_SCALE := 4
VM_TIMEOUT := 5400
VM_PROCESSORS := 4
endif
ifneq ($(filter debug kcsan,$(KERNEL)),)
VM_TIME_SCALE := 10
VM_TIMEOUT := 3600
VM_MEMORY := 2048
endif

# --- kselftest programs: each test_*.c one, with everything of lib/ ---------
KSELFTEST_SRC := $(wildcard tests/kselftest/test_*.c)
KSELFTEST_LIB_SRC := $(wildcard tests/kselftest/lib/*.c)
KSELFTESTS := $(patsubst %.c,$(O)/%,$(KSELFTEST_SRC))
kselftest_obj = $(patsubst %.c,$(O)/obj/kselftest/%.o,$(1))
KSELFTEST_FLAGS = -std=gnu11 -O2 -g -Wall -Wextra $(WERROR_FLAG) -D_GNU_SOURCE -I. -Iinclude \
	-isystem $(VM)/linux-source -pthread -MMD -MP
# More of one program: KSELFTEST_LIBS_test_name = -static, in tests/kselftest/sources.mk
include $(wildcard tests/kselftest/sources.mk)
KERNEL_HEADERS_TAKEN := tools/testing/selftests/kselftest_harness.h tools/testing/selftests/kselftest.h \
	scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch

# Other test programs that run in the guest, too.
VM_TESTS := $(filter %kernel_trap %kernel_library,$(CONTRACT_TESTS))
# A device's unmodified program is linked statically, too: nothing but the kernel is between it and the device.
VM_STATIC := $(patsubst %.c,$(O)/%-static,$(wildcard $(KINDS:%=tests/unmodified/%.c)))
VM_SOAK := $(O)/tests/soak/soak_kill
# Files that are packed, and programs that run; the scripts run the unmodified programs.
VM_PROGRAMS = $(patsubst $(O)/%,%,$(KSELFTESTS) $(VM_TESTS) $(UNMODIFIED) $(VM_STATIC) $(CHECK_TRACE) $(VM_SOAK))
# A copy of the template, made as scripts/new-device.sh makes it: tests/vm/copied-device.sh.
include tests/vm/copied-device.mk
VM_COPY_BUILD := $(O)/$(VM_COPY)/build
VM_COPY_TESTS := $(patsubst %,$(VM_COPY_BUILD)/tests/contract/test_contract_$(VM_COPY)_%,kernel_trap kernel_library)
VM_PROGRAMS += $(patsubst $(O)/%,%,$(VM_COPY_TESTS) $(VM_COPY_BUILD)/bin/mimicd)
# With WHOLE=1 all programs run on all kernels. Else each contract runs on one kernel, because there
# is little of the kernel's in it; on the newest run those kselftests that the kernel's version
# concerns most, and with four processors those that their number does: docs/testing.md says which and why.
VM_CONTRACTS_6.1 := %_trap
VM_CONTRACTS_6.12 := %_library
VM_CHOSEN_newest := channel daemon_death device_memory fault_service kernel_text mapping process shootdown_flush \
	slow_pages takeover thread_cost trap_instructions trap_refused user_limits window_end window_memory
# Where threads and processors meet.
VM_CHOSEN_smp4 := channel daemon_death %_ends end_races fault_service hotplug instances process \
	shootdown_flush slow_pages storms takeover thread_cost trap_blocked unload window_deadlock window_end \
	window_stale window_stale_moves window_stale_writes window_tables
VM_CHOSEN = $(if $(WHOLE),,$(VM_CHOSEN_$(KERNEL)))
VM_CONTRACTS = $(filter $(if $(WHOLE),%,$(VM_CONTRACTS_$(KERNEL))),$(VM_TESTS) $(VM_COPY_TESTS))
VM_KSELFTESTS = $(filter $(or $(VM_CHOSEN:%=$(O)/tests/kselftest/test_%),%),$(KSELFTESTS))
VM_RUN = $(patsubst $(O)/%,/mimic/%,$(VM_KSELFTESTS) $(VM_CONTRACTS)) /mimic/vm/unmodified.sh /mimic/vm/state.sh /mimic/vm/kill.sh

.PHONY: check-kernel check-kernel-all check-kernels check-kernel-one check-kernel-style check-kernel-debug \
	soak-kill-kernel check-kernel-repeat check-kernels-repeat check-kernel-again kselftests demo-kernel vm-shell vm-run \
	vm-image vm-modules vm-copy vm-copy-module vm-programs packages-kernel

packages-kernel:
	$(Q)$(PACKAGES) build tests kernel

$(FETCHED:%=$(VM)/%/vmlinux): $(VM)/%/vmlinux: | packages-kernel
	$(Q)tests/vm/fetch-kernel.sh $* $(@D)

$(VM)/smp4/vmlinux: $(VM)/6.12/vmlinux
	$(Q)ln -sfn 6.12 $(VM)/smp4

$(VM)/debug/vmlinux: tests/vm/debug.config tests/vm/debug-kernel.sh | packages-kernel
	$(Q)tests/vm/debug-kernel.sh $(@D)

$(VM)/kcsan/vmlinux: tests/vm/debug.config tests/vm/kcsan.config tests/vm/debug-kernel.sh | packages-kernel
	$(Q)tests/vm/debug-kernel.sh --kcsan $(@D)

$(VM)/linux-source: | packages-kernel
	$(Q)tests/vm/fetch-source.sh "6.1 6.12" $@ $(KERNEL_HEADERS_TAKEN)

# Programs that the guest's scripts run.
VM_HELPERS := $(VM)/supervise $(VM)/hold_breakpoint

$(VM_HELPERS): $(VM)/%: tests/vm/guest/%.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $<")
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -static -o $@ $<

$(O)/obj/kselftest/%.o: %.c | $(VM)/linux-source
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $<")
	$(Q)gcc $(KSELFTEST_FLAGS) -c -o $@ $<

$(KSELFTESTS): $(O)/tests/kselftest/%: $(O)/obj/kselftest/tests/kselftest/%.o $(call kselftest_obj,$(KSELFTEST_LIB_SRC))
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)gcc -pthread -Wl,--wrap=alarm -o $@ $^ $(KSELFTEST_LIBS_$*)

$(VM_STATIC): $(O)/tests/unmodified/%-static: tests/unmodified/%.c $(wildcard tests/unmodified/*.h) | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)gcc -std=gnu11 $(UNMODIFIED_FLAGS) -static -o $@ $< -lm

kselftests: $(KSELFTESTS)

# --- files for a guest -------------------------------------------------------
VM_BUILT := $(patsubst smp4,6.12,$(KERNEL))
VM_MODULES := $(O)/driver/$(VM_BUILT)
VM_COPY_MODULES := $(O)/$(VM_COPY)/driver/$(VM_BUILT)
VM_HAS_DRIVER := $(firstword $(wildcard driver/Kbuild driver/Makefile))

vm-modules: $(VM)/$(KERNEL)/vmlinux
	$(if $(VM_HAS_DRIVER),@echo "# $(KERNEL): building the modules")
	$(if $(VM_HAS_DRIVER),$(Q)tests/vm/build-modules.sh $(VM)/$(KERNEL) $(VM_MODULES))

# Of the copy only its own module: the others are the same.
vm-copy-module: vm-copy vm-modules
	$(if $(VM_HAS_DRIVER),$(Q)$(O)/$(VM_COPY)/tests/vm/build-modules.sh $(abspath $(VM)/$(KERNEL)) $(abspath $(VM_COPY_MODULES)) \
		shared= folders=$(VM_COPY)/ KBUILD_EXTRA_SYMBOLS=$(abspath $(VM_MODULES))/driver/Module.symvers)

vm-copy: all $(VM_TESTS)
	$(Q)tests/vm/copied-device.sh $(VM_COPY) $(O) $(O)/$(VM_COPY)

vm-programs: all $(VM_HELPERS) $(KSELFTESTS) $(VM_TESTS) $(UNMODIFIED) $(VM_STATIC) $(CHECK_TRACE) $(VM_SOAK)
	@:

vm-image: vm-programs vm-modules vm-copy-module
	$(Q)tests/vm/stage.sh $(O) "$(if $(VM_HAS_DRIVER),$(VM_MODULES) $(VM_COPY_MODULES))" $(VM)/$(KERNEL).tree $(VM_PROGRAMS)
	$(Q)tests/vm/pack.sh $(VM)/$(KERNEL).tree $(VM)/$(KERNEL).initramfs

# $(call run_machine,RESULTS,LOG): the tests in one machine.
run_machine = tests/vm/run-tests.sh --results $(1) --label $(KERNEL) --log $(2) --each $(VM_EACH) \
	--time-scale $(VM_TIME_SCALE) --timeout $(VM_TIMEOUT) --memory $(VM_MEMORY) \
	--processors $(VM_PROCESSORS) $(VM_WHAT) $(VM_RUN)

VM_BOOT = tests/vm/boot.sh --memory $(VM_MEMORY) --processors $(VM_PROCESSORS)
VM_WHAT = $(VM)/$(KERNEL) $(VM)/$(KERNEL).initramfs

# --- goals -------------------------------------------------------------------
# One machine after the other. Both have two processors that wait for each other at
# every access: four of them on two of the host's took up to ten times as long.
# A kernel that this release of Debian does not have is skipped, and counted as such.
check-kernel: packages-kernel
	$(Q)rm -f $(VM_RESULTS)
	$(Q)mkdir -p $(VM)
	$(Q)kernels=$$(tests/vm/kernels.sh --results $(VM_RESULTS) $(VM) $(KERNELS)) && \
		$(MAKE) --no-print-directory check-kernels KERNELS="$$(echo $$kernels)"

# Everything on every kernel: for some hours.
check-kernel-all:
	$(Q)tests/vm/debug-kernel.sh --announce $(VM)/debug
	$(Q)$(MAKE) --no-print-directory check-kernel WHOLE=1 KERNELS="6.1 6.12 smp4 newest rt debug kcsan"

# The newest kernel is fetched while the programs are compiled: it has lists of packages of its own.
check-kernels:
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) $(patsubst %,$(VM)/%/vmlinux,$(filter newest,$(KERNELS))) vm-programs
	$(Q)$(MAKE) --no-print-directory check-kernel-style
	$(Q)for kernel in $(KERNELS); do \
		$(MAKE) --no-print-directory vm-image KERNEL=$$kernel || exit 1; \
	done
	$(Q)for kernel in $(KERNELS); do \
		$(MAKE) --no-print-directory check-kernel-one KERNEL=$$kernel || exit 1; \
	done
	$(Q)$(VM_SUMMARY) --summary

check-kernel-debug:
	$(Q)tests/vm/debug-kernel.sh --announce $(VM)/debug
	$(Q)rm -f $(VM_RESULTS)
	$(Q)$(MAKE) --no-print-directory check-kernel-one KERNEL=debug WHOLE=1
	$(Q)$(MAKE) --no-print-directory check-kernel-one KERNEL=kcsan WHOLE=1
	$(Q)$(VM_SUMMARY) --summary

check-kernel-one: vm-image
	$(Q)rm -f $(VM_RESULTS).$(KERNEL)
	$(Q)$(call run_machine,$(VM_RESULTS).$(KERNEL),$(VM)/$(KERNEL).log)
	$(Q)cat $(VM_RESULTS).$(KERNEL) >>$(VM_RESULTS)

# mimicd is killed 200 times under load of programs that have its devices through the kernel.
soak-kill-kernel:
	$(Q)$(MAKE) --no-print-directory check-kernel-one VM_RUN=/mimic/vm/kill-often.sh

# Only the machines of check-kernel, RUNS times: make check-kernel-repeat RUNS=20.
# UNDER is a command that each run is given to: UNDER="flock FILE", UNDER=nice.
check-kernel-repeat: packages-kernel
	$(Q)mkdir -p $(VM)
	$(Q)kernels=$$(tests/vm/kernels.sh --results $(VM_RESULTS) $(VM) $(KERNELS)) && \
		$(MAKE) --no-print-directory check-kernels-repeat KERNELS="$$(echo $$kernels)"

check-kernels-repeat:
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) vm-programs
	$(Q)for kernel in $(KERNELS); do \
		$(MAKE) --no-print-directory vm-image KERNEL=$$kernel || exit 1; \
	done
	$(Q)tests/vm/repeat.sh $(RUNS) $(VM)/repeat "$(KERNELS)" $(UNDER) $(MAKE) --no-print-directory check-kernel-again

# For repeat.sh, which sets KERNEL, RUN_RESULTS and RUN_LOG: with the files that were built before.
check-kernel-again:
	$(Q)$(call run_machine,$(RUN_RESULTS),$(RUN_LOG))

# Without WHOLE=1 the newest kernel's build without W=1 and sparse has to do, which takes half as long.
VM_STYLES = $(filter-out debug kcsan rt smp4 $(if $(WHOLE),,newest),$(KERNELS))

check-kernel-style: $(if $(VM_HAS_DRIVER),$(VM)/linux-source $(VM_STYLES:%=$(VM)/%/vmlinux))
	$(if $(VM_HAS_DRIVER),$(Q)$(VM_SUMMARY) --timeout 600 \
		"tests/vm/check-style.sh $(abspath $(O)) $(VM_STYLES)")

demo-kernel: vm-image
	@echo "# booting $(KERNEL); the demo runs in it"
	$(Q)$(VM_BOOT) --timeout 900 $(VM_WHAT) \
		'set -o pipefail; /mimic/vm/start.sh $(MIMICD_KERNEL_OPTIONS) && $(DEMO_KERNEL_COMMAND) 2>&1 | cat'

vm-shell: vm-image
	@echo "# booting $(KERNEL); leave with: exit, or Ctrl-A X"
	$(Q)$(VM_BOOT) --shell $(VM_WHAT) '/mimic/vm/start.sh $(MIMICD_KERNEL_OPTIONS)'

# One command in a guest: make vm-run RUN='uname -a'
vm-run: vm-image
	$(Q)$(VM_BOOT) --timeout $(VM_TIMEOUT) $(VM_WHAT) '$(RUN)'
