# make figures: the papers' figures, from runs of `mimic sim`, beside what the papers say.

FIGURES := $(O)/bench/figures/figures
# The common part of the figures of all papers.
FIGURES_COMMON_SRC := $(wildcard bench/figures/common/*.c) tools/common/jobs.c options/options.c \
	$(wildcard tools/plot/*.c)
# The artifact's matrices, where they are; without them the generated ones are all there is.
FIGURES_DATA ?= $(wildcard ../shared/data)
FIGURES_JOBS ?= 2

tests: $(FIGURES)
$(O)/tests/unit/test_figures_judge: $(call obj,bench/figures/judge.c bench/figures/common/verdict.c)

# Those of other devices' papers add themselves, below: COMMAND || status=1;
FIGURES_RUNS =

.PHONY: figures figures-ranges

# All papers, one behind the other. Each is run, also if the one before failed, and names its failed gates.
figures: all $(FIGURES)
	$(Q)status=0; \
	$(FIGURES) --build $(O) --tables bench/figures --output $(O)/figures --data '$(FIGURES_DATA)' --jobs $(FIGURES_JOBS) || status=1; \
	$(FIGURES_RUNS) exit $$status

# How far each row moves over the ranges of parameters that the paper leaves open. build/figures-ranges/error_bars.csv is checked in.
figures-ranges: all $(FIGURES)
	$(Q)$(FIGURES) --build $(O) --tables bench/figures --output $(O)/figures-ranges --jobs $(FIGURES_JOBS) --ranges \
		--commit "$$(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)"

$(FIGURES): $(call obj,$(wildcard bench/figures/*.c) $(FIGURES_COMMON_SRC) tools/sim/point.c) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

# Papers of other devices have folders of their own there.
include $(wildcard bench/figures/*/rules.mk)
