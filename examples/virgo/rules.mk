# It shows that no library is needed.

all: $(O)/examples/virgo/gemm_stores

$(O)/examples/virgo/gemm_stores: $(O)/obj/examples/virgo/gemm_stores.o $(LIBCOMMON_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -ljson-c -lm
