# Host benchmarks: every row beside a reference of the same run, medians of 7.

BENCH := $(O)/bench/bench
# A real graph beside the generated one, where there is one.
BENCH_MATRIX ?= $(wildcard ../shared/data/pubmed.mtx)

.PHONY: bench
bench: packages-test all $(BENCH)
	@echo "Measuring; takes about three minutes, and wants a quiet machine with two CPUs."
	$(Q)$(BENCH) --build $(O) --output $(O)/bench.json $(BENCH_MATRIX:%=--matrix %)
	@echo "Written: $(O)/bench.json"

$(BENCH): $(call obj,$(BENCH_SRC)) $(LIBCOMMON_A) $(LIBMAPLE) $(LIBDARE) $(LIBVIRGO)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lmaple -ldare -lvirgo -lmimic $(call RPATH,../) -ljson-c -lm
