/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * `mimic cflags` includes this in front of a program's files: the compiler's hooks tell of
 * loads and stores, but not of those inside memcpy() and other functions of <string.h>. Here
 * calls of them become calls of libmimic-sim, which makes their loads and stores in virtual
 * time (docs/timing.md).
 *
 * Only code that is compiled with this header is changed. The replacements are inline functions
 * of the same names; the C library's own for _FORTIFY_SOURCE would collide with them. Calls
 * that gcc itself replaces by a load and a store, with hooks, stay so.
 */
#ifndef MIMIC_SIM_STRING_H
#define MIMIC_SIM_STRING_H

#pragma GCC system_header
#undef _FORTIFY_SOURCE

#ifdef __cplusplus
extern "C" {
#endif

#define MIMIC_SIM_CALL __attribute__((__nothrow__, __leaf__))
#define MIMIC_SIM_PURE __attribute__((__nothrow__, __leaf__, __pure__))

MIMIC_SIM_CALL void *mimic_sim_memcpy(void *to, const void *from, __SIZE_TYPE__ size);
MIMIC_SIM_CALL void *mimic_sim_memmove(void *to, const void *from, __SIZE_TYPE__ size);
MIMIC_SIM_CALL void *mimic_sim_memset(void *to, int value, __SIZE_TYPE__ size);
MIMIC_SIM_PURE int mimic_sim_memcmp(const void *one, const void *other, __SIZE_TYPE__ size);
MIMIC_SIM_PURE void *mimic_sim_memchr(const void *bytes, int value, __SIZE_TYPE__ size);
MIMIC_SIM_PURE __SIZE_TYPE__ mimic_sim_strlen(const char *text);
MIMIC_SIM_PURE int mimic_sim_strcmp(const char *one, const char *other);
MIMIC_SIM_PURE int mimic_sim_strncmp(const char *one, const char *other, __SIZE_TYPE__ size);
MIMIC_SIM_PURE char *mimic_sim_strchr(const char *text, int value);
MIMIC_SIM_PURE char *mimic_sim_strrchr(const char *text, int value);
MIMIC_SIM_CALL char *mimic_sim_strcpy(char *to, const char *from);
MIMIC_SIM_CALL char *mimic_sim_strncpy(char *to, const char *from, __SIZE_TYPE__ size);
MIMIC_SIM_CALL char *mimic_sim_strcat(char *to, const char *from);
MIMIC_SIM_CALL char *mimic_sim_strncat(char *to, const char *from, __SIZE_TYPE__ size);

/* --- replacements of calls ----------------------------------------------------------------- */

#define MIMIC_SIM_HELPER static __inline __attribute__((__always_inline__, __artificial__))
#define MIMIC_SIM_IS_CONSTANT(value) __builtin_constant_p(value)

struct mimic_sim_2 { __UINT16_TYPE__ value; } __attribute__((__packed__, __may_alias__));
struct mimic_sim_4 { __UINT32_TYPE__ value; } __attribute__((__packed__, __may_alias__));
struct mimic_sim_8 { __UINT64_TYPE__ value; } __attribute__((__packed__, __may_alias__));

/* gcc makes a load and a store of these. */
MIMIC_SIM_HELPER int mimic_sim_is_word(__SIZE_TYPE__ size)
{
	return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

MIMIC_SIM_HELPER void *mimic_sim_call_memcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
	if (MIMIC_SIM_IS_CONSTANT(size) && mimic_sim_is_word(size))
		return __builtin_memcpy(to, from, size);
	return mimic_sim_memcpy(to, from, size);
}

MIMIC_SIM_HELPER void *mimic_sim_call_memmove(void *to, const void *from, __SIZE_TYPE__ size)
{
	if (MIMIC_SIM_IS_CONSTANT(size) && mimic_sim_is_word(size))
		return __builtin_memmove(to, from, size);
	return mimic_sim_memmove(to, from, size);
}

MIMIC_SIM_HELPER void *mimic_sim_call_memset(void *to, int value, __SIZE_TYPE__ size)
{
	const __UINT64_TYPE__ word = 0x0101010101010101u * (unsigned char)value;

	if (!MIMIC_SIM_IS_CONSTANT(size) || size == 16 || !mimic_sim_is_word(size))
		return mimic_sim_memset(to, value, size);
	if (size == 8)
		((struct mimic_sim_8 *)to)->value = word;
	else if (size == 4)
		((struct mimic_sim_4 *)to)->value = (__UINT32_TYPE__)word;
	else if (size == 2)
		((struct mimic_sim_2 *)to)->value = (__UINT16_TYPE__)word;
	else
		*(unsigned char *)to = (unsigned char)value;
	return to;
}

/* The length of a constant string is known to the compiler: no access. */
MIMIC_SIM_HELPER int mimic_sim_call_memcmp(const void *one, const void *other, __SIZE_TYPE__ size)
{
	if (MIMIC_SIM_IS_CONSTANT(__builtin_memcmp(one, other, size)))
		return __builtin_memcmp(one, other, size);
	return mimic_sim_memcmp(one, other, size);
}

MIMIC_SIM_HELPER void *mimic_sim_call_memchr(const void *bytes, int value, __SIZE_TYPE__ size)
{
	return mimic_sim_memchr(bytes, value, size);
}

MIMIC_SIM_HELPER __SIZE_TYPE__ mimic_sim_call_strlen(const char *text)
{
	if (MIMIC_SIM_IS_CONSTANT(__builtin_strlen(text)))
		return __builtin_strlen(text);
	return mimic_sim_strlen(text);
}

MIMIC_SIM_HELPER int mimic_sim_call_strcmp(const char *one, const char *other)
{
	if (MIMIC_SIM_IS_CONSTANT(__builtin_strcmp(one, other)))
		return __builtin_strcmp(one, other);
	return mimic_sim_strcmp(one, other);
}

MIMIC_SIM_HELPER int mimic_sim_call_strncmp(const char *one, const char *other, __SIZE_TYPE__ size)
{
	if (MIMIC_SIM_IS_CONSTANT(__builtin_strncmp(one, other, size)))
		return __builtin_strncmp(one, other, size);
	return mimic_sim_strncmp(one, other, size);
}

MIMIC_SIM_HELPER char *mimic_sim_call_strchr(const char *text, int value)
{
	return mimic_sim_strchr(text, value);
}

MIMIC_SIM_HELPER char *mimic_sim_call_strrchr(const char *text, int value)
{
	return mimic_sim_strrchr(text, value);
}

/* As gcc: a string of known length is copied as so many bytes. */
MIMIC_SIM_HELPER char *mimic_sim_call_strcpy(char *to, const char *from)
{
	if (MIMIC_SIM_IS_CONSTANT(__builtin_strlen(from)))
		return (char *)mimic_sim_call_memcpy(to, from, __builtin_strlen(from) + 1);
	return mimic_sim_strcpy(to, from);
}

MIMIC_SIM_HELPER char *mimic_sim_call_strncpy(char *to, const char *from, __SIZE_TYPE__ size)
{
	return mimic_sim_strncpy(to, from, size);
}

MIMIC_SIM_HELPER char *mimic_sim_call_strcat(char *to, const char *from)
{
	return mimic_sim_strcat(to, from);
}

MIMIC_SIM_HELPER char *mimic_sim_call_strncat(char *to, const char *from, __SIZE_TYPE__ size)
{
	return mimic_sim_strncat(to, from, size);
}

/* --- others, which are made of these. Finding the end of a string takes no time. --- */

#ifdef __STRICT_ANSI__
#define MIMIC_SIM_HAS_KIN 0	/* these are names of the program's own */
#else
#define MIMIC_SIM_HAS_KIN 1

MIMIC_SIM_HELPER void *mimic_sim_call_mempcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
	return (char *)mimic_sim_call_memcpy(to, from, size) + size;
}

MIMIC_SIM_HELPER void mimic_sim_call_bzero(void *to, __SIZE_TYPE__ size)
{
	mimic_sim_call_memset(to, 0, size);
}

MIMIC_SIM_HELPER void mimic_sim_call_bcopy(const void *from, void *to, __SIZE_TYPE__ size)
{
	mimic_sim_call_memmove(to, from, size);
}

MIMIC_SIM_HELPER int mimic_sim_call_bcmp(const void *one, const void *other, __SIZE_TYPE__ size)
{
	return mimic_sim_call_memcmp(one, other, size);
}

/* As memchr(); it does not read behind the zero byte either. */
MIMIC_SIM_HELPER __SIZE_TYPE__ mimic_sim_call_strnlen(const char *text, __SIZE_TYPE__ size)
{
	const char *end = (const char *)mimic_sim_memchr(text, 0, size);

	return end ? (__SIZE_TYPE__)(end - text) : size;
}

MIMIC_SIM_HELPER char *mimic_sim_call_stpcpy(char *to, const char *from)
{
	return mimic_sim_call_strcpy(to, from) + __builtin_strlen(from);
}

MIMIC_SIM_HELPER char *mimic_sim_call_stpncpy(char *to, const char *from, __SIZE_TYPE__ size)
{
	const char *end = (const char *)__builtin_memchr(from, 0, size);

	return mimic_sim_strncpy(to, from, size) + (end ? (__SIZE_TYPE__)(end - from) : size);
}

MIMIC_SIM_HELPER void *mimic_sim_call_memccpy(void *to, const void *from, int last, __SIZE_TYPE__ size)
{
	const char *found = (const char *)mimic_sim_memchr(from, last, size);
	__SIZE_TYPE__ copied = found ? (__SIZE_TYPE__)(found - (const char *)from) + 1 : size;

	mimic_sim_memcpy(to, from, copied);
	return found ? (char *)to + copied : 0;
}

MIMIC_SIM_HELPER char *mimic_sim_copy_of(const char *text, __SIZE_TYPE__ length)
{
	char *copy = (char *)__builtin_malloc(length + 1);

	if (!copy)
		return 0;
	mimic_sim_memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

MIMIC_SIM_HELPER char *mimic_sim_call_strdup(const char *text)
{
	return mimic_sim_copy_of(text, mimic_sim_call_strlen(text));
}

MIMIC_SIM_HELPER char *mimic_sim_call_strndup(const char *text, __SIZE_TYPE__ size)
{
	return mimic_sim_copy_of(text, mimic_sim_call_strnlen(text, size));
}
#endif

/* --- the names ------------------------------------------------------------------------------ */

#define MIMIC_SIM_INLINE extern __inline __attribute__((__always_inline__, __gnu_inline__, __artificial__))
#if !defined(__cplusplus)
#define MIMIC_SIM_NOTHROW
#elif __cplusplus >= 201103L
#define MIMIC_SIM_NOTHROW noexcept
#else
#define MIMIC_SIM_NOTHROW throw()
#endif

#define MIMIC_SIM_NAME(type, name, parameters, arguments) \
	MIMIC_SIM_INLINE type name parameters MIMIC_SIM_NOTHROW \
	{ \
		return mimic_sim_call_##name arguments; \
	}

MIMIC_SIM_NAME(void *, memcpy, (void *to, const void *from, __SIZE_TYPE__ size), (to, from, size))
MIMIC_SIM_NAME(void *, memmove, (void *to, const void *from, __SIZE_TYPE__ size), (to, from, size))
MIMIC_SIM_NAME(void *, memset, (void *to, int value, __SIZE_TYPE__ size), (to, value, size))
MIMIC_SIM_NAME(int, memcmp, (const void *one, const void *other, __SIZE_TYPE__ size), (one, other, size))
MIMIC_SIM_NAME(__SIZE_TYPE__, strlen, (const char *text), (text))
MIMIC_SIM_NAME(int, strcmp, (const char *one, const char *other), (one, other))
MIMIC_SIM_NAME(int, strncmp, (const char *one, const char *other, __SIZE_TYPE__ size), (one, other, size))
MIMIC_SIM_NAME(char *, strcpy, (char *to, const char *from), (to, from))
MIMIC_SIM_NAME(char *, strncpy, (char *to, const char *from, __SIZE_TYPE__ size), (to, from, size))
MIMIC_SIM_NAME(char *, strcat, (char *to, const char *from), (to, from))
MIMIC_SIM_NAME(char *, strncat, (char *to, const char *from, __SIZE_TYPE__ size), (to, from, size))
/* In C++ <cstring> has overloads of these, which call the built-in functions. */
#ifndef __cplusplus
MIMIC_SIM_NAME(void *, memchr, (const void *bytes, int value, __SIZE_TYPE__ size), (bytes, value, size))
MIMIC_SIM_NAME(char *, strchr, (const char *text, int value), (text, value))
MIMIC_SIM_NAME(char *, strrchr, (const char *text, int value), (text, value))
#endif

#if MIMIC_SIM_HAS_KIN
MIMIC_SIM_NAME(void *, mempcpy, (void *to, const void *from, __SIZE_TYPE__ size), (to, from, size))
MIMIC_SIM_NAME(void, bzero, (void *to, __SIZE_TYPE__ size), (to, size))
MIMIC_SIM_NAME(void, bcopy, (const void *from, void *to, __SIZE_TYPE__ size), (from, to, size))
MIMIC_SIM_NAME(int, bcmp, (const void *one, const void *other, __SIZE_TYPE__ size), (one, other, size))
MIMIC_SIM_NAME(__SIZE_TYPE__, strnlen, (const char *text, __SIZE_TYPE__ size), (text, size))
MIMIC_SIM_NAME(char *, stpcpy, (char *to, const char *from), (to, from))
MIMIC_SIM_NAME(char *, stpncpy, (char *to, const char *from, __SIZE_TYPE__ size), (to, from, size))
MIMIC_SIM_NAME(void *, memccpy, (void *to, const void *from, int last, __SIZE_TYPE__ size), (to, from, last, size))
MIMIC_SIM_NAME(char *, strdup, (const char *text), (text))
MIMIC_SIM_NAME(char *, strndup, (const char *text, __SIZE_TYPE__ size), (text, size))
#endif

#undef MIMIC_SIM_HAS_KIN
#undef MIMIC_SIM_NAME
#undef MIMIC_SIM_NOTHROW
#undef MIMIC_SIM_INLINE
#undef MIMIC_SIM_IS_CONSTANT
#undef MIMIC_SIM_HELPER
#undef MIMIC_SIM_PURE
#undef MIMIC_SIM_CALL

#ifdef __cplusplus
}
#endif

/* The C++ library calls them by these names. */
#define __builtin_memcpy(to, from, size) mimic_sim_call_memcpy(to, from, size)
#define __builtin_memmove(to, from, size) mimic_sim_call_memmove(to, from, size)
#define __builtin_memset(to, value, size) mimic_sim_call_memset(to, value, size)
#define __builtin_memcmp(one, other, size) mimic_sim_call_memcmp(one, other, size)
#define __builtin_memchr(bytes, value, size) mimic_sim_call_memchr(bytes, value, size)
#define __builtin_strlen(text) mimic_sim_call_strlen(text)
#define __builtin_strcmp(one, other) mimic_sim_call_strcmp(one, other)
#define __builtin_strncmp(one, other, size) mimic_sim_call_strncmp(one, other, size)
#define __builtin_strchr(text, value) mimic_sim_call_strchr(text, value)
#define __builtin_strrchr(text, value) mimic_sim_call_strrchr(text, value)
#define __builtin_strcpy(to, from) mimic_sim_call_strcpy(to, from)
#define __builtin_strncpy(to, from, size) mimic_sim_call_strncpy(to, from, size)
#define __builtin_strcat(to, from) mimic_sim_call_strcat(to, from)
#define __builtin_strncat(to, from, size) mimic_sim_call_strncat(to, from, size)

#endif
