# The paper's loops, element by element (examples/maple/loops): natively, and once more for
# `mimic sim` from the same sources. Only the loops are compiled with its flags.

LOOPS_TIMED_SRC := $(patsubst %,examples/maple/loops/%.c,spmv sdhp bfs spmm shared_queue)
LOOPS_PLAIN_SRC := $(filter-out $(LOOPS_TIMED_SRC) %/round_trip.c,$(wildcard examples/maple/loops/*.c)) examples/maple/loops.c
# The code between the loops of a program and libmaple, and the loop of round_trip.
LOOPS_OPERATIONS := examples/maple/loops/operations.c
ROUND_TRIP_LOOP := examples/maple/loops/round_trip.c
LOOPS := $(O)/examples/maple/loops
SIM_LOOPS := $(O)/sim/examples/maple/loops
SIM_ROUND_TRIP := $(O)/sim/examples/maple/round_trip

all: $(LOOPS) $(if $(and $(IS_X86_64),$(HAS_SIM)),$(SIM_LOOPS) $(SIM_ROUND_TRIP))

$(LOOPS): $(call obj,$(LOOPS_PLAIN_SRC) $(LOOPS_TIMED_SRC)) $(LIBCOMMON_A) $(O)/lib/libmaple.so.0
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lmaple -lmimic $(call RPATH,../../) $(JSON_LIBS) -lm

# As a user would: the flags are the command's output.
$(O)/obj/sim/%.o: %.c | $(O)/bin/mimic $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  SIMCC   $<")
	$(Q)$(SIM_CFLAGS) $(CC) -std=gnu11 $(WARNINGS) -O2 "$$@" -I. -Iinclude $(LIBRARY_FLAGS) -D_GNU_SOURCE -MMD -MP -c -o $@ $<

$(SIM_LOOPS): $(call obj,$(LOOPS_PLAIN_SRC)) $(patsubst %.c,$(O)/obj/sim/%.o,$(LOOPS_TIMED_SRC))
$(SIM_ROUND_TRIP): $(call obj,examples/maple/round_trip.c $(LOOPS_OPERATIONS)) $(O)/obj/sim/$(ROUND_TRIP_LOOP:.c=.o)
$(O)/examples/maple/round_trip: $(call obj,$(ROUND_TRIP_LOOP) $(LOOPS_OPERATIONS))

$(SIM_LOOPS) $(SIM_ROUND_TRIP): $(LIBCOMMON_A) $(O)/lib/libmaple.so.0 $(LIBMIMIC_SIM) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(SIM_LIBS) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LIBCOMMON_A) "$$@" -L$(O)/lib -lmaple -lmimic \
		$(call RPATH,../../../) $(JSON_LIBS) -lm
