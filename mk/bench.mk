# Host benchmarks: every row beside a reference of the same run, medians of 7.

BENCH := $(O)/bench/bench
# A real graph beside the generated one, where there is one.
BENCH_MATRIX ?= $(wildcard ../shared/data/pubmed.mtx)

# BASE=FILE: the bench.json of an earlier run; the end says which rows have moved. ROUNDS=N: all rows N times, in turn.
ROUNDS ?= $(if $(BASE),3,1)
.PHONY: bench
bench: packages-tests all $(BENCH)
	@echo "Measuring; takes about three minutes for each of $(ROUNDS) rounds, and wants a quiet machine with two CPUs."
	$(Q)$(BENCH) --build $(O) --output $(O)/bench.json --rounds $(ROUNDS) $(BASE:%=--base %) $(BENCH_MATRIX:%=--matrix %)
	@echo "Written: $(O)/bench.json"

# For the rows of trace: the models by themselves, with and without the hook. The spool is
# libmimic's, which does not export it; nor does it export the functions by which the rows of state ask a daemon.
BENCH_MODELS := $(O)/bench/models-hooked.so $(O)/bench/models-plain.so
BENCH_MODEL_SRC := bench/models/models.c $(MODEL_SRC)
BENCH_SPOOL := libmimic/base/spool.c
BENCH_OPTIONS := options/options.c

$(O)/obj/without-trace/%.o: %.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $< (without trace)")
	$(Q)$(CC) $(ALL_CFLAGS) -DMIMIC_WITHOUT_TRACE -c -o $@ $<

$(O)/bench/models-hooked.so: $(call obj,$(BENCH_MODEL_SRC))
$(O)/bench/models-plain.so: $(patsubst %.c,$(O)/obj/without-trace/%.o,$(BENCH_MODEL_SRC))
$(BENCH_MODELS):
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-z,defs -o $@ $^ -lm

# Not functions of libmimic.a that libmimic.so exports, too: in a child under mimic run they would replace the library's,
# and it has no gates (libmimic/base/vectors.h).
$(BENCH): $(call obj,$(BENCH_SRC) $(BENCH_SPOOL) $(BENCH_OPTIONS)) $(LIBCOMMON_A) $(LIBMIMIC_A) $(DEVICE_LIBRARIES) | $(BENCH_MODELS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -Wl,--exclude-libs,libmimic.a -o $@ $(filter-out $(LIBMIMIC_A),$(filter %.o %.a,$^)) \
		-L$(O)/lib $(LIBRARY_KINDS:%=-l%) -lmimic $(LIBMIMIC_A) $(call RPATH,../) $(MIMIC_LIBS)
