# make figures-dare: the DARE paper's rows, from the tables bench/figures/dare_*.csv.

FIGURES_DARE := $(O)/bench/figures/dare/figures
FIGURES_DARE_SRC := $(wildcard bench/figures/dare/*.c) $(FIGURES_COMMON_SRC)

tests: $(FIGURES_DARE)
$(O)/tests/unit/test_figures_dare: $(call obj,$(filter-out %/main.c,$(FIGURES_DARE_SRC)))

.PHONY: figures-dare figures-dare-ranges

FIGURES_DARE_RUN = $(FIGURES_DARE) --build $(O) --tables bench/figures --output $(O)/figures-dare --data '$(FIGURES_DATA)' --jobs $(FIGURES_JOBS)
FIGURES_RUNS += $(FIGURES_DARE_RUN) || status=1;

figures: $(FIGURES_DARE)

figures-dare: all $(FIGURES_DARE)
	$(Q)$(FIGURES_DARE_RUN)

# How far each row moves over the ranges of omitted parameters. Of build/figures-dare-ranges error_bars.csv, effects.csv and
# shapes.csv are checked in as dare_error_bars.csv, dare_effects.csv and dare_shapes.csv.
figures-dare-ranges: all $(FIGURES_DARE)
	$(Q)$(FIGURES_DARE) --build $(O) --tables bench/figures --output $(O)/figures-dare-ranges --jobs $(FIGURES_JOBS) --ranges \
		--commit "$$(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)"

$(FIGURES_DARE): $(call obj,$(FIGURES_DARE_SRC))
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(JSON_LIBS) -lm
