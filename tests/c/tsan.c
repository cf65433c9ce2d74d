// Functions that rustc's code calls with ThreadSanitizer and that the runtime of older gcc versions lacks. That runtime
// intercepts the functions of the C library.
#include <stddef.h>
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t count);
void *__tsan_memmove(void *to, const void *from, size_t count);
void *__tsan_memset(void *to, int byte, size_t count);

__attribute__((weak)) void *__tsan_memcpy(void *to, const void *from, size_t count)
{
    return memcpy(to, from, count);
}

__attribute__((weak)) void *__tsan_memmove(void *to, const void *from, size_t count)
{
    return memmove(to, from, count);
}

__attribute__((weak)) void *__tsan_memset(void *to, int byte, size_t count)
{
    return memset(to, byte, count);
}
