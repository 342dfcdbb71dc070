# mimic: the one entry. `make help` lists the targets.
# O=DIR builds elsewhere, V=1 shows the commands, SANITIZE=address,undefined or thread.
# WERROR=1 makes warnings errors: so it is in CI only, because other compilers warn of other things.

O ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
CXX = g++
FUZZ_CC = clang
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
VERSION := 0.1.0

WERROR ?= $(if $(CI),1)
WERROR_FLAG := $(if $(filter-out 0,$(WERROR)),-Werror)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(WERROR_FLAG)
CFLAGS ?= -O2 -g
# No fused multiply-add: DARE's sums are the same, bit for bit, on every machine.
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread \
	-ffp-contract=off -I. -Iinclude -Ilibmaple -Ilibdare -Ilibvirgo -D_GNU_SOURCE -DMIMIC_VERSION='"$(VERSION)"' -MMD -MP
LDFLAGS_ALL = -pthread $(LDFLAGS)
ifneq ($(SANITIZE),)
# gcc's warnings err beside its sanitizers' checks: here they are only shown.
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-error
LDFLAGS_ALL += -fsanitize=$(SANITIZE)
endif

# --- what is built from what: a folder's C files make its part -------------
# The devices that are built in, a line each.
KINDS        := $(shell sed -n "s/^KIND(\([a-z]*\))$$/\1/p" devices/kinds.def)
# What a device is made of, also of a plugin.
DEVICE_SRC   := $(wildcard devices/*.c devices/soc/*.c)
MODEL_SRC    := $(DEVICE_SRC) $(wildcard $(foreach kind,$(KINDS),devices/$(kind)/*.c devices/$(kind)/time/*.c))
MIMIC_SRC    := $(wildcard $(patsubst %,libmimic/%/*.c,base device embedded daemon kernel record replay)) $(MODEL_SRC)
PRELOAD_SRC  := $(wildcard libmimic/preload/*.c)
# What the libraries of the devices share: each has a copy.
LIBRARY_SRC  := $(wildcard libmimic/library/*.c)
MAPLE_SRC    := $(wildcard libmaple/*.c) $(LIBRARY_SRC)
DARE_SRC     := $(wildcard libdare/*.c) $(LIBRARY_SRC)
VIRGO_SRC    := $(wildcard libvirgo/*.c) $(LIBRARY_SRC)
DAEMON_SRC   := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c))
# A folder for a device has commands of its own.
TOOL_SRC     := $(wildcard tools/*.c tools/*/*.c)
include $(wildcard tools/*/sources.mk)
COMMON_SRC   := $(wildcard examples/common/*.c)
# loops has more files: mk/sim_loops.mk
EXAMPLE_SRC  := $(filter-out examples/maple/loops.c,$(wildcard examples/maple/*.c))
DARE_EXAMPLE_SRC := $(wildcard examples/dare/*.c)
VIRGO_EXAMPLE_SRC := $(wildcard examples/virgo/*.c)
BENCH_SRC    := $(wildcard bench/*.c)
SIM_SRC      := $(wildcard sim/*.c)
TESTLIB_SRC  := $(wildcard tests/lib/*.c)
UNIT_TEST_SRC := $(wildcard tests/unit/test_*.c)
TRANSPORT_TEST_SRC := $(wildcard tests/transport/test_*.c)
# Each folder is the contract of a device.
CONTRACT_DEVICES := $(filter $(KINDS),$(patsubst tests/contract/%/,%,$(wildcard tests/contract/*/)))
UNMODIFIED_C := $(wildcard tests/unmodified/*.c)
UNMODIFIED_CXX := $(wildcard tests/unmodified/*.cc)
FUZZ_SRC     := $(wildcard tests/fuzz/fuzz_*.c)

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
MIMIC_LIBS  := -linih -ljson-c -ldl -lm
DAEMON_LIBS := -luring -lfuse3

LIBMIMIC     := $(O)/lib/libmimic.so.0
LIBMAPLE     := $(O)/lib/libmaple.so.0
LIBDARE      := $(O)/lib/libdare.so.0
LIBVIRGO     := $(O)/lib/libvirgo.so.0
PRELOAD      := $(O)/lib/libmimic-preload.so
LIBMIMIC_A   := $(O)/lib/libmimic.a
LIBDEVICE_A  := $(O)/lib/libmimic-device.a
LIBMAPLE_A   := $(O)/lib/libmaple.a
LIBDARE_A    := $(O)/lib/libdare.a
LIBVIRGO_A   := $(O)/lib/libvirgo.a
LIBCOMMON_A  := $(O)/lib/libcommon.a
LIBDAEMON_A  := $(O)/lib/libdaemon.a
LIBTEST_A    := $(O)/lib/libtest.a
LIBSIM_A     := $(O)/lib/libsim.a
RPATH        = -Wl,-rpath,'$$ORIGIN/$(1)lib'

EXAMPLES     := $(patsubst %.c,$(O)/%,$(EXAMPLE_SRC))
DARE_EXAMPLES := $(patsubst %.c,$(O)/%,$(DARE_EXAMPLE_SRC))
VIRGO_EXAMPLES := $(patsubst %.c,$(O)/%,$(VIRGO_EXAMPLE_SRC))
# One program a device, and a link to it for each way to the device: the link's name says which.
CONTRACTS    := $(patsubst %,$(O)/tests/contract/contract_%,$(CONTRACT_DEVICES))
include $(wildcard tests/contract/*/names.mk)
contract_ways = $(shell sed -n 's/.*\.program = "\(.*\)",/\1/p' tests/contract/ways.c $(wildcard tests/contract/$(1)/ways.c))
contract_links = $(addprefix $(O)/tests/contract/$(or $(CONTRACT_NAME_$(1)),test_contract_$(1)_),$(call contract_ways,$(1)))
CONTRACT_TESTS := $(foreach device,$(CONTRACT_DEVICES),$(call contract_links,$(device)))
TEST_PROGRAMS := $(patsubst %.c,$(O)/%,$(UNIT_TEST_SRC) $(TRANSPORT_TEST_SRC))
TESTS        := $(filter $(O)/tests/unit/%,$(TEST_PROGRAMS)) $(CONTRACT_TESTS) $(filter $(O)/tests/transport/%,$(TEST_PROGRAMS))
UNMODIFIED   := $(patsubst %.c,$(O)/%,$(UNMODIFIED_C)) $(patsubst %.cc,$(O)/%,$(UNMODIFIED_CXX))
FUZZERS      := $(patsubst %.c,$(O)/%,$(FUZZ_SRC))
BINARIES     := $(if $(wildcard tools/mimic.c),$(O)/bin/mimic) $(if $(wildcard daemon/main.c),$(O)/bin/mimicd)
MANPAGES     := $(patsubst docs/man/%.scd,$(O)/man/%,$(wildcard docs/man/*.scd))
LIBRARIES    := $(LIBMIMIC) $(LIBDEVICE_A) $(LIBMAPLE) $(LIBDARE) $(LIBVIRGO) $(if $(PRELOAD_SRC),$(PRELOAD))

.PHONY: help all tests fuzzers packages-build packages-tests packages-check clean
.DEFAULT_GOAL := all

help:
	@echo "make all           build libraries, commands, examples, man pages into build/"
	@echo "make demo          products and searches on MAPLE, DARE and Virgo, on all transports, and a page of them; INPUT=FILE for your own"
	@echo "make check         all tests, sanitizers, fuzzing (about 20 minutes); check-quick for less"
	@echo "make check-kernel  kernel tests in virtual machines, Debian 6.1 and 6.12 (under 10 minutes); KERNELS=6.12 for one"
	@echo "make check-kernel-debug"
	@echo "                   the same tests in a kernel with KASAN, lockdep and fault injection; builds it first, once"
	@echo "make demo-kernel   the demo in a virtual machine, with modules and daemon; KERNEL=6.1, 6.12 or debug"
	@echo "make vm-shell      a shell in that machine"
	@echo "make bench         host benchmarks, written to build/bench.json"
	@echo "make figures       MAPLE's figures in virtual time, beside the paper's, into build/figures/ (a few minutes)"
	@echo "make bench-kernel  benchmarks in a virtual machine; KERNEL=6.1 or 6.12"
	@echo "make install       PREFIX=DIR DESTDIR=DIR"
	@echo "make docs          the register pages of the docs, from the register lists"
	@echo "make lint          style of changed lines, scripts, spelling; LINT_BASE=REVISION"
	@echo "make clean         remove build/"
	@echo "Variables: O=DIR builds elsewhere, V=1 shows commands, SANITIZE=address,undefined|thread,"
	@echo "           WERROR=1 makes warnings errors (CI does)"

all: packages-build $(LIBRARIES) $(BINARIES) $(EXAMPLES) $(DARE_EXAMPLES) $(VIRGO_EXAMPLES) $(MANPAGES)
tests: $(TESTS) $(UNMODIFIED)
fuzzers: $(FUZZERS)

# A rule that runs a program of a package, or compiles against one, waits for these: the package may be missing.
PACKAGES ?= sh scripts/packages.sh
packages-build:
	$(Q)$(PACKAGES) build

packages-tests:
	$(Q)$(PACKAGES) build tests

packages-check:
	$(Q)$(PACKAGES) build tests check

$(O)/obj/%.o: %.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $<")
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define archive
	@mkdir -p $(@D)
	$(if $(Q),@echo "  AR      $@")
	$(Q)rm -f $@ && ar rcs $@ $^
endef

$(LIBMIMIC_A): $(call obj,$(MIMIC_SRC)); $(archive)
$(LIBDEVICE_A): $(call obj,$(DEVICE_SRC)); $(archive)
$(LIBMAPLE_A): $(call obj,$(MAPLE_SRC)); $(archive)
$(LIBDARE_A): $(call obj,$(DARE_SRC)); $(archive)
$(LIBVIRGO_A): $(call obj,$(VIRGO_SRC)); $(archive)
$(LIBCOMMON_A): $(call obj,$(COMMON_SRC)); $(archive)
$(LIBDAEMON_A): $(call obj,$(DAEMON_SRC)); $(archive)
$(LIBTEST_A): $(call obj,$(TESTLIB_SRC)); $(archive)
$(LIBSIM_A): $(call obj,$(SIM_SRC)); $(archive)

$(LIBMIMIC): $(call obj,$(MIMIC_SRC)) libmimic/libmimic.map
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmimic.so.0 -Wl,-z,now -Wl,--version-script=libmimic/libmimic.map \
		-Wl,-z,defs -o $@ $(filter %.o,$^) $(MIMIC_LIBS)
	$(Q)ln -sf libmimic.so.0 $(O)/lib/libmimic.so

$(LIBMAPLE): $(call obj,$(MAPLE_SRC)) libmaple/libmaple.map $(LIBMIMIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmaple.so.0 -Wl,--version-script=libmaple/libmaple.map \
		-Wl,-z,defs $(call RPATH,) -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.o,$^) -L$(O)/lib -lmimic -lm
	$(Q)ln -sf libmaple.so.0 $(O)/lib/libmaple.so

# The instruction tables are the model's, too; libmimic does not export them.
$(LIBDARE): $(call obj,$(DARE_SRC) $(wildcard devices/dare/isa.c)) libdare/libdare.map $(LIBMIMIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libdare.so.0 -Wl,--version-script=libdare/libdare.map \
		-Wl,-z,defs -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.o,$^) -L$(O)/lib -lmimic -lm
	$(Q)ln -sf libdare.so.0 $(O)/lib/libdare.so

$(LIBVIRGO): $(call obj,$(VIRGO_SRC)) libvirgo/libvirgo.map $(LIBMIMIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libvirgo.so.0 -Wl,--version-script=libvirgo/libvirgo.map \
		-Wl,-z,defs -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.o,$^) -L$(O)/lib -lmimic -lm
	$(Q)ln -sf libvirgo.so.0 $(O)/lib/libvirgo.so

# The table of registers is asked in the library itself: libmimic.so does not export it.
$(PRELOAD): $(call obj,$(PRELOAD_SRC)) $(LIBDEVICE_A) $(LIBMIMIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libmimic-preload.so -Wl,-z,now -Wl,-z,defs -Wl,-rpath,'$$ORIGIN' \
		-o $@ $(filter %.o,$^) $(LIBDEVICE_A) -L$(O)/lib -lmimic -ldl

$(O)/bin/mimicd: $(call obj,daemon/main.c) $(LIBDAEMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS) $(DAEMON_LIBS)

$(O)/bin/mimic: $(call obj,$(TOOL_SRC) sim/parameters.c) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

# Examples link the shared libraries, as a user's program would.
$(EXAMPLES): $(O)/examples/maple/%: $(O)/obj/examples/maple/%.o $(LIBCOMMON_A) $(LIBMAPLE)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lmaple -lmimic $(call RPATH,../../) -ljson-c -lm

$(DARE_EXAMPLES): $(O)/examples/dare/%: $(O)/obj/examples/dare/%.o $(LIBCOMMON_A) $(LIBDARE)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -ldare -lmimic $(call RPATH,../../) -ljson-c -lm

$(filter-out %/gemm_stores,$(VIRGO_EXAMPLES)): $(O)/examples/virgo/%: $(O)/obj/examples/virgo/%.o $(LIBCOMMON_A) $(LIBVIRGO)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lvirgo -lmimic $(call RPATH,../../) -ljson-c -lm

# It shows that no library is needed.
$(O)/examples/virgo/gemm_stores: $(O)/obj/examples/virgo/gemm_stores.o $(LIBCOMMON_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -ljson-c -lm

$(filter $(O)/obj/tests/%,$(call obj,$(TESTLIB_SRC) $(TEST_SRC) $(wildcard tests/contract/*.c))): | packages-tests

# Tests link the archives: they look at what the shared libraries hide.
$(TEST_PROGRAMS): $(O)/tests/%: $(O)/obj/tests/%.o
# The contracts' cases register themselves, so they cannot lie in an archive.
$(foreach device,$(CONTRACT_DEVICES),$(eval $(O)/tests/contract/contract_$(device): \
	$(call obj,$(wildcard tests/contract/*.c tests/contract/$(device)/*.c))))

$(TEST_PROGRAMS) $(CONTRACTS): $(LIBTEST_A) $(LIBSIM_A) $(LIBDAEMON_A) $(LIBMAPLE_A) $(LIBDARE_A) $(LIBVIRGO_A) $(LIBCOMMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) -lcmocka -lZydis $(TEST_LIBS) -lm

# These have an independent library beside them.
$(filter $(O)/tests/unit/test_dare_sparse% $(O)/tests/transport/test_libdare% $(O)/tests/transport/test_libvirgo%,$(TEST_PROGRAMS)): TEST_LIBS := -lcholmod -lopenblas

$(foreach device,$(CONTRACT_DEVICES),$(eval $(call contract_links,$(device)): $(O)/tests/contract/contract_$(device)))
$(CONTRACT_TESTS):
	$(Q)ln -sf $(<F) $@

# Programs that know nothing of mimic: no include path, no library of ours.
UNMODIFIED_FLAGS := -O2 -g -Wall -Wextra $(WERROR_FLAG) -no-pie -fno-pie -pthread -fopenmp
$(UNMODIFIED): | packages-build

$(patsubst %.c,$(O)/%,$(UNMODIFIED_C)): $(O)/%: %.c $(wildcard tests/unmodified/*.h)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)gcc -std=gnu11 $(UNMODIFIED_FLAGS) -o $@ $< -lm

$(patsubst %.cc,$(O)/%,$(UNMODIFIED_CXX)): $(O)/%: %.cc $(wildcard tests/unmodified/*.h)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX     $@")
	$(Q)g++ -std=gnu++17 $(UNMODIFIED_FLAGS) -o $@ $<

# Fuzz targets: everything but the target itself once, with coverage, as an archive.
FUZZ_FLAGS = -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -pthread \
	-ffp-contract=off -I. -Iinclude -Ilibmaple -Ilibdare -Ilibvirgo -D_GNU_SOURCE -DMIMIC_VERSION='"$(VERSION)"' -MMD -MP
FUZZ_A := $(O)/lib/libfuzzed.a
FUZZED_SRC := $(MIMIC_SRC) $(MAPLE_SRC) $(DARE_SRC) $(DAEMON_SRC) $(COMMON_SRC) $(filter-out $(FUZZ_SRC),$(wildcard tests/fuzz/*.c)) tests/lib/dare_oracle.c \
	$(wildcard tests/lib/virgo_reference*.c) tests/lib/half.c
fuzz_obj = $(patsubst %.c,$(O)/obj/fuzz/%.o,$(1))
FUZZ_COVERAGE = -fsanitize=fuzzer-no-link
# The paths of an oracle are not what is looked for, and it takes most of the time.
$(call fuzz_obj,tests/lib/dare_oracle.c tests/fuzz/dare_expected.c tests/fuzz/dare_side.c \
	$(wildcard tests/lib/virgo_reference*.c) tests/lib/half.c tests/fuzz/virgo_expected.c tests/fuzz/virgo_side.c): FUZZ_COVERAGE =

$(O)/obj/fuzz/%.o: %.c | packages-check
	@mkdir -p $(@D)
	$(if $(Q),@echo "  FUZZCC  $<")
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -c -o $@ $<

$(FUZZ_A): $(call fuzz_obj,$(FUZZED_SRC)); $(archive)

$(FUZZERS): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(FUZZ_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) -lm

$(O)/man/%: docs/man/%.scd | packages-build
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

include $(wildcard mk/*.mk)

clean:
	$(Q)rm -rf $(O)

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
