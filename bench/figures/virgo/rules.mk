# make figures-virgo: the Virgo paper's rows, from the tables bench/figures/virgo_*.csv.

FIGURES_VIRGO := $(O)/bench/figures/virgo/figures
FIGURES_VIRGO_SRC := $(wildcard bench/figures/virgo/*.c) $(FIGURES_COMMON_SRC)

tests: $(FIGURES_VIRGO)
$(O)/tests/unit/test_figures_virgo: $(call obj,$(filter-out %/main.c,$(FIGURES_VIRGO_SRC)))

.PHONY: figures-virgo figures-virgo-ranges figures-virgo-counts

FIGURES_VIRGO_RUN = $(FIGURES_VIRGO) --build $(O) --tables bench/figures --output $(O)/figures-virgo --jobs $(FIGURES_JOBS)
FIGURES_RUNS += $(FIGURES_VIRGO_RUN) || status=1;

figures: $(FIGURES_VIRGO)

figures-virgo: all $(FIGURES_VIRGO)
	$(Q)$(FIGURES_VIRGO_RUN)

# How far each row moves over the ranges of assumptions. build/figures-virgo-ranges/error_bars.csv is checked in as virgo_error_bars.csv.
figures-virgo-ranges: all $(FIGURES_VIRGO)
	$(Q)$(FIGURES_VIRGO) --build $(O) --tables bench/figures --output $(O)/figures-virgo-ranges --jobs $(FIGURES_JOBS) --ranges \
		--commit "$$(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)"

$(FIGURES_VIRGO): $(call obj,$(FIGURES_VIRGO_SRC))
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(JSON_LIBS) -lm

# Instructions of the designs' kernels: ours as clang compiles them, the published ones', the model's. The table is checked in.
VIRGO_STREAMS := $(O)/bench/figures/virgo/streams
VIRGO_COUNTS = python3 bench/figures/virgo/counts/count.py $(VIRGO_STREAMS) $(FUZZ_CC)

tests: $(VIRGO_STREAMS)

figures-virgo-counts: packages-check $(VIRGO_STREAMS)
	$(Q)$(VIRGO_COUNTS) >$(O)/virgo_counts.csv && mv $(O)/virgo_counts.csv bench/figures/virgo_counts.csv

$(VIRGO_STREAMS): $(call obj,bench/figures/virgo/counts/streams.c) $(LIBSIM_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)
