# A device's library and its examples, by the device's name.

# A library in the device's own folder, devices/NAME/lib, exports NAME_*, if no libNAME.map says more.
$(O)/gen/lib%.map:
	@mkdir -p $(@D)
	$(Q)echo '$*_0 { global: $*_*; local: *; };' > $@

# Files of the model that a library has, too: LIBRARY_OF_MODEL_name, in its sources.mk.
include $(wildcard $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind))/sources.mk))

# $(1): the device. $(2): its library's map
define device_library
$(O)/lib/lib$(1).a: $(call obj,$(call library_src,$(1))); $$(archive)

# As it is installed in a standard place, too: without a path of its own (mk/install.mk).
$(O)/lib/lib$(1).so.0 $(O)/installed/lib$(1).so.0: $(call obj,$(call library_src,$(1)) $(LIBRARY_OF_MODEL_$(1))) $(2) $(LIBMIMIC)
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  LD      $$@")
	$$(Q)$$(CC) -shared $$(LDFLAGS_ALL) -Wl,-soname,lib$(1).so.0 -Wl,--version-script=$(2) \
		-Wl,-z,defs $$(call ORIGIN,$$@) -o $$@ $$(filter %.o,$$^) -L$(O)/lib -lmimic -lm
	$$(Q)ln -sf lib$(1).so.0 $$(@D)/lib$(1).so
endef
library_map = $(or $(wildcard $(call library_folder,$(1))/lib$(1).map),$(O)/gen/lib$(1).map)
$(foreach kind,$(LIBRARY_KINDS),$(eval $(call device_library,$(kind),$(call library_map,$(kind)))))

# Examples link the shared libraries, as a user's program would.
define device_examples
$(filter $(O)/examples/$(1)/%,$(EXAMPLES)): $(O)/examples/$(1)/%: $(O)/obj/examples/$(1)/%.o $(LIBCOMMON_A) $(O)/lib/lib$(1).so.0
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  LD      $$@")
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$(filter %.o %.a,$$^) -L$(O)/lib -l$(1) -lmimic $$(call RPATH,../../) $(JSON_LIBS) -lm
endef
$(foreach kind,$(LIBRARY_KINDS),$(if $(wildcard examples/$(kind)/*.c),$(eval $(call device_examples,$(kind)))))
