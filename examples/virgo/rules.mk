# It shows that no library is needed.

all: $(O)/examples/virgo/gemm_stores

$(O)/examples/virgo/gemm_stores: $(O)/obj/examples/virgo/gemm_stores.o $(LIBCOMMON_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(JSON_LIBS) -lm

# For mimic sim: the kernels of the modelled cluster stand for virgo_gemm's products; gemm_stores needs no library
# there, either. Only the example itself is compiled with its flags, not its shared files.
SIM_GEMMS := $(addprefix $(O)/sim/examples/virgo/,gemm gemm_stores gemm_swish gemm_two_units flash_attention)

all: $(if $(and $(IS_X86_64),$(HAS_SIM)),$(SIM_GEMMS))

$(SIM_GEMMS): $(O)/sim/examples/virgo/%: $(O)/obj/sim/examples/virgo/%.o $(LIBCOMMON_A) $(O)/lib/libvirgo.so.0 $(LIBMIMIC_SIM) | $(O)/bin/mimic
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(SIM_LIBS) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LIBCOMMON_A) "$$@" -L$(O)/lib -Wl,--as-needed -lvirgo -lmimic \
		$(call RPATH,../../../) $(JSON_LIBS) -lm
