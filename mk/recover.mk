# mimicd-recoverable: mimicd whose models log each change, for a successor (daemon/journal). It is a
# program of its own, so that a daemon that is not to be recovered pays nothing for that.

# Structures in the window are read by the next daemon, and may be so by one that was built from other sources: only
# if all that says how they are laid out is the same.
LAYOUT_SRC := $(sort $(wildcard daemon/journal/*.h daemon/engine/*record.h daemon/engine/step.h daemon/clients/*record.h daemon/bus/*record.h \
	devices/*.h devices/soc/*.h include/mimic/*.h) $(wildcard $(KINDS:%=devices/%/*.h)))
LAYOUT := $(shell cat $(LAYOUT_SRC) | cksum | tr ' ' '-')
$(call obj,daemon/engine/origin.c): PART_CFLAGS += -DMIMICD_LAYOUT='"$(LAYOUT)"'
$(call obj,daemon/engine/origin.c): $(LAYOUT_SRC)
$(call fuzz_obj,daemon/engine/origin.c): FUZZ_FLAGS += -DMIMICD_LAYOUT='"$(LAYOUT)"'

# A call in front of each store, and functions of ours in place of the C library's.
RECOVER_FLAGS := $(if $(shell $(CC) --version 2>/dev/null | grep -i clang), \
	-fsanitize=kernel-address -mllvm -asan-instrument-reads=0 -mllvm -asan-stack=0 -mllvm -asan-globals=0 \
	-mllvm -asan-instrumentation-with-call-threshold=0, \
	-fsanitize=kernel-address --param asan-instrument-reads=0 --param asan-stack=0 --param asan-globals=0 \
	--param asan-instrumentation-with-call-threshold=0)
# These name their changes themselves (devices/changes.h).
RECOVER_SILENT := $(wildcard devices/*/compute.c)
$(patsubst %.c,$(O)/obj/recover/%.o,$(RECOVER_SILENT)): RECOVER_FLAGS =
RECOVER_FUNCTIONS := memcpy memmove memset malloc calloc aligned_alloc free
OBJCOPY = $(CROSS)objcopy
recover_obj = $(patsubst %.c,$(O)/obj/recover/%.o,$(1))

# As the plain object is compiled, but for that. With _FORTIFY_SOURCE, which Debian's packages are compiled with, memcpy()
# may be __memcpy_chk(), in whose place there is no function of ours.
$(O)/obj/recover/%.o: %.c $(O)/obj/%.o | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter $<,$(GENERAL_ONLY)),$(if $(IS_X86_64),-mgeneral-regs-only $(NO_INLINE))) -U_FORTIFY_SOURCE $(RECOVER_FLAGS) \
		-DMIMIC_NOTES_CHANGES -c -o $@ $<
	$(Q)[ -z "$(RECOVER_FUNCTIONS)" ] || $(OBJCOPY) $(foreach function,$(RECOVER_FUNCTIONS),--redefine-sym $(function)=mimicd_model_$(function)) $@

# The devices in virtual time are no part of mimicd.
RECOVER_SRC := $(filter-out $(wildcard devices/*/time/*.c),$(MODEL_SRC))
RECOVERABLE := $(O)/bin/mimicd-recoverable
# Sanitizers and these calls are one mechanism of the compiler.
all: $(if $(SANITIZE),,$(RECOVERABLE))
$(O)/obj/recover/daemon/main.o: RECOVER_FLAGS = -DMIMICD_RECOVERABLE
$(O)/obj/recover/daemon/main.o: RECOVER_FUNCTIONS =
$(RECOVERABLE): $(call recover_obj,daemon/main.c) $(call recover_obj,$(RECOVER_SRC)) \
		$(call obj,$(wildcard daemon/journal/recoverable/*.c)) $(LIBDAEMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS)

# The daemon of this test is the test itself.
KEPT_BUS := $(O)/tests/recovery/kept_bus
tests: $(if $(SANITIZE),,$(KEPT_BUS))
$(call obj,tests/recovery/kept_bus.c): | packages-tests
$(KEPT_BUS): $(call obj,tests/recovery/kept_bus.c) $(call recover_obj,$(RECOVER_SRC)) \
		$(call obj,$(wildcard daemon/journal/recoverable/*.c)) $(LIBTEST_A) $(LIBDAEMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) $(CMOCKA_LIBS) -lm
