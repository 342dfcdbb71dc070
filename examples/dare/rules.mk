# The paper's instruction streams (examples/dare/streams): natively, and once more for `mimic sim`. Only the
# file that reads the time is compiled with its flags, as `mimic sim` wants some of a program to be: the
# host's own loads and address arithmetic take no time.

STREAMS_TIMED := examples/dare/streams/measure.c
STREAMS_OBJ := $(call obj,$(filter-out $(STREAMS_TIMED),$(wildcard examples/dare/streams/*.c)) examples/dare/streams.c)
STREAMS := $(O)/examples/dare/streams
SIM_STREAMS := $(O)/sim/examples/dare/streams

all: $(STREAMS) $(if $(and $(IS_X86_64),$(HAS_SIM)),$(SIM_STREAMS))

$(STREAMS): $(STREAMS_OBJ) $(call obj,$(STREAMS_TIMED)) $(LIBCOMMON_A) $(O)/lib/libdare.so.0
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -ldare -lmimic $(call RPATH,../../) $(JSON_LIBS) -lm

$(SIM_STREAMS): $(STREAMS_OBJ) $(STREAMS_TIMED:%.c=$(O)/obj/sim/%.o) $(LIBCOMMON_A) $(O)/lib/libdare.so.0 $(LIBMIMIC_SIM) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(SIM_LIBS) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LIBCOMMON_A) "$$@" -L$(O)/lib -ldare -lmimic \
		$(call RPATH,../../../) $(JSON_LIBS) -lm
