# Benchmarks of the kernel transport, in a virtual machine with the modules: software
# emulation, so only ratios mean something.
.PHONY: bench-kernel
BENCH_KERNEL := $(O)/bench/bench-kernel
BENCH_KERNEL_SRC := $(wildcard bench/kernel/*.c) $(filter-out bench/main.c $(KINDS:%=bench/%%.c) bench/trace%.c bench/state.c,$(BENCH_SRC))

bench-kernel: $(BENCH_KERNEL)
	$(Q)$(MAKE) --no-print-directory vm-image KERNEL=$(KERNEL) VM_PROGRAMS=bench/bench-kernel
	@echo "Measuring in a virtual machine ($(KERNEL)); takes about five minutes, and wants a quiet machine with two CPUs."
	$(Q)$(VM_BOOT) --timeout 1200 $(VM_WHAT) \
		'/mimic/vm/modules.sh load && /mimic/bench/bench-kernel /mimic /tmp/rows.json; status=$$?; \
		echo "--- bench-kernel.json"; cat /tmp/rows.json; exit $$status' >$(O)/bench-kernel.out; \
		status=$$?; sed '/^--- bench-kernel.json/,$$d' $(O)/bench-kernel.out; \
		sed '1,/^--- bench-kernel.json/d' $(O)/bench-kernel.out >$(O)/bench-kernel.json; \
		rm -f $(O)/bench-kernel.out; echo "Written: $(O)/bench-kernel.json"; exit $$status

$(BENCH_KERNEL): $(call obj,$(BENCH_KERNEL_SRC)) $(call kselftest_obj,$(KSELFTEST_LIB_SRC)) $(DEVICE_LIBRARIES)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -Wl,--wrap=alarm -o $@ $(filter %.o,$^) -L$(O)/lib -Wl,--as-needed $(LIBRARY_KINDS:%=-l%) -lmimic \
		$(call RPATH,../) $(JSON_LIBS) -lm
