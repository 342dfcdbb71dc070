# make ARCH=arm64 or ARCH=riscv64: Debian's cross compiler, and libraries of Debian 13 for it, which are fetched
# once. Commands that make runs while it builds are of this machine; its products run there, or by qemu-user.

TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET_riscv64 := riscv64-linux-gnu
ARCH_TRIPLET := $(TRIPLET_$(ARCH))
ifeq ($(ARCH_TRIPLET),)
$(error ARCH=$(ARCH): arm64 and riscv64 are known)
endif

O ?= build/$(ARCH)
CROSS := $(ARCH_TRIPLET)-
ifeq ($(shell command -v $(CROSS)gcc),)
$(error no $(CROSS)gcc: it is in Debian's package gcc-$(ARCH_TRIPLET))
endif
ARCH_CACHE ?= build/arches
ARCH_ROOT := $(abspath $(ARCH_CACHE))/sysroot-$(ARCH)
# A cross compiler looks into its own C library first, which may be an older one: -B comes before.
SYSROOT := --sysroot=$(ARCH_ROOT) -B$(ARCH_ROOT)/usr/lib/$(ARCH_TRIPLET)/
ifneq ($(shell tests/arches/fetch-sysroot.sh $(ARCH) $(ARCH_ROOT) >&2 && echo fetched),fetched)
$(error the libraries of $(ARCH) cannot be fetched)
endif
