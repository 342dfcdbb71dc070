# The library of a device that brings one in its own folder, devices/NAME/lib: libNAME, which
# exports NAME_*.

LIBRARY_KINDS := $(patsubst devices/%/lib/,%,$(wildcard $(patsubst %,devices/%/lib/,$(KINDS))))
DEVICE_LIBRARIES := $(patsubst %,$(O)/lib/lib%.so.0,$(LIBRARY_KINDS))

all: $(DEVICE_LIBRARIES)

$(O)/gen/lib%.map:
	@mkdir -p $(@D)
	$(Q)echo '$*_0 { global: $*_*; local: *; };' > $@

# $(1): the device
define device_library
$(O)/lib/lib$(1).so.0: $(call obj,$(wildcard devices/$(1)/lib/*.c)) $(O)/gen/lib$(1).map $(LIBMIMIC)
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  LD      $$@")
	$$(Q)$$(CC) -shared $$(LDFLAGS_ALL) -Wl,-soname,lib$(1).so.0 -Wl,--version-script=$(O)/gen/lib$(1).map \
		-Wl,-z,defs -Wl,-rpath,'$$$$ORIGIN' -o $$@ $$(filter %.o,$$^) -L$(O)/lib -lmimic
	$$(Q)ln -sf lib$(1).so.0 $(O)/lib/lib$(1).so
endef
$(foreach kind,$(LIBRARY_KINDS),$(eval $(call device_library,$(kind))))
