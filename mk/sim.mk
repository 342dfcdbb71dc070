# Virtual time: libmimic-sim, which programs of `mimic sim` are linked with; the cost tables.

SIM_RUNTIME_SRC := $(wildcard sim/runtime/*.c)
LIBMIMIC_SIM := $(O)/lib/libmimic-sim.so.0
# Its memory is not the program's.
SIM_WRAP := $(foreach name,malloc calloc realloc aligned_alloc free,-Wl,--wrap=$(name))
# The tables, and what `mimic costs` makes others with.
SIM_COSTS := $(addprefix $(O)/share/mimic/costs/,$(notdir $(wildcard sim/costs/*.csv)) count.awk prefetch.h)

# Where `mimic cflags` finds them, as it does when installed.
SIM_HEADERS := $(patsubst %,$(O)/%,include/mimic/sim.h include/mimic/sim_prefetch.h include/mimic/sim_string.h)
SIM_LIBRARY_H := $(wildcard $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind))/$(kind)*.h))
SIM_LIBRARY_HEADERS := $(patsubst %,$(O)/include/%,$(notdir $(SIM_LIBRARY_H)))

# What `mimic cflags` prints, as words of the shell: "$$@" of the command behind it. A path may have spaces.
sim_words = words=$$($(O)/bin/mimic cflags $(1)) && eval "set -- $$words" &&
SIM_CFLAGS = $(call sim_words,--compiler "$(CC)")
SIM_LIBS = $(call sim_words,--libs)

# 20 million accesses a second take -O3. But two counters that lie side by side and are counted by one vector instruction
# have to be in memory both first: a processor cannot take them from its store buffer, where they were put one by one.
$(call obj,$(SIM_RUNTIME_SRC) $(SIM_SRC)): ALL_CFLAGS += -O3 -fno-tree-slp-vectorize

# Virtual time is x86-64's: sim/runtime/coroutine.c, and its compare and swap of 16 bytes.
all: $(if $(IS_X86_64),$(LIBMIMIC_SIM)) $(SIM_COSTS) $(SIM_HEADERS) $(SIM_LIBRARY_HEADERS)

# The devices are its
# own, because their memory is not the program's; of libmimic.a it takes what reads memory that may
# not be there.
# Each x86-64 since 2006 has the instruction.
$(call obj,sim/runtime/hooks_atomic.c): ALL_CFLAGS += -mcx16
# gcc tells that older ones passed its aligned structures otherwise; all calls are within this file.
$(call obj,sim/runtime/openmp_loops.c): ALL_CFLAGS += -Wno-psabi

$(LIBMIMIC_SIM) $(O)/installed/libmimic-sim.so.0: $(call obj,$(SIM_RUNTIME_SRC) $(SIM_SRC) $(MODEL_SRC) libmimic/base/kinds.c libmimic/base/kind_check.c) $(LIBMIMIC_A) $(LIBMIMIC) sim/runtime/libmimic-sim.map
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmimic-sim.so.0 -Wl,-z,now -Wl,-z,defs \
		$(SIM_WRAP) -Wl,--exclude-libs,ALL -Wl,--version-script=sim/runtime/libmimic-sim.map $(call ORIGIN,$@) -o $@ $(filter %.o,$^) \
		-L$(O)/lib -lmimic $(LIBMIMIC_A) $(MIMIC_LIBS)
	$(Q)ln -sf libmimic-sim.so.0 $(@D)/libmimic-sim.so

$(O)/share/mimic/costs/%: sim/costs/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(O)/share/mimic/costs/prefetch.h: sim/costs/include/prefetch.h
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(SIM_HEADERS): $(O)/include/%: include/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(foreach header,$(SIM_LIBRARY_H),$(eval $(O)/include/$(notdir $(header)): $(header)))
$(SIM_LIBRARY_HEADERS):
	@mkdir -p $(@D)
	$(Q)cp $< $@

# They define what the compiler calls, with types of their own. Where it sanitizes, it has declared these itself,
# takes ours for something else, and does not export them.
$(patsubst %.c,$(O)/obj/%.o,$(wildcard sim/runtime/hooks*.c)): SANITIZE_FLAGS =

# The command reads debugging information.
$(O)/bin/mimic: MIMIC_LIBS += $(DW_LIBS) $(ELF_LIBS)

# Small programs for tests/scripts/test-sim.sh, as a user would make them.
SIM_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/sim/*.c))

tests: $(if $(and $(IS_X86_64),$(HAS_SIM)),$(SIM_TESTS))

$(SIM_TESTS): $(O)/tests/sim/%: tests/sim/%.c $(DEVICE_LIBRARIES) $(LIBMIMIC_SIM) $(SIM_HEADERS) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  SIMCC   $@")
	$(Q)$(SIM_CFLAGS) $(CC) -std=gnu11 $(WARNINGS) -O2 "$$@" -Iinclude $(LIBRARY_FLAGS) -c -o $@.o $<
	$(Q)$(SIM_LIBS) $(CC) -pthread -o $@ $@.o -L$(O)/lib -Wl,--as-needed $(LIBRARY_KINDS:%=-l%) "$$@"

# For the rows of sim: one kernel with the run-time, and with hooks that do nothing. Both
# hooks are in a library, and called as those of a library are.
SIM_BENCH := $(addprefix $(O)/bench/sim/,spmv spmv-empty stream)

$(BENCH): | $(SIM_BENCH)

$(O)/bench/sim/spmv.o: bench/sim/spmv.c $(SIM_HEADERS) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  SIMCC   $<")
	$(Q)$(SIM_CFLAGS) $(CC) -std=gnu11 $(WARNINGS) -O2 "$$@" -c -o $@ $<

$(O)/bench/sim/libempty-hooks.so: bench/sim/empty_hooks.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -fPIC -shared -o $@ $<

$(O)/bench/sim/spmv: $(O)/bench/sim/spmv.o $(LIBMIMIC_SIM) | $(O)/bin/mimic
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(SIM_LIBS) $(CC) -o $@ $< "$$@"

$(O)/bench/sim/spmv-empty: $(O)/bench/sim/spmv.o $(O)/bench/sim/libempty-hooks.so
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -o $@ $< -L$(O)/bench/sim -lempty-hooks -Wl,-rpath,'$$ORIGIN'

$(O)/bench/sim/stream: bench/sim/stream.c $(DEVICE_LIBRARIES) $(LIBMIMIC_SIM) $(SIM_HEADERS) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  SIMCC   $@")
	$(Q)$(SIM_CFLAGS) $(CC) -std=gnu11 $(WARNINGS) -O2 "$$@" -Iinclude $(LIBRARY_FLAGS) -c -o $@.o $<
	$(Q)$(SIM_LIBS) $(CC) -pthread -o $@ $@.o -L$(O)/lib -Wl,--as-needed $(LIBRARY_KINDS:%=-l%) "$$@"
