// What rustc's code for ThreadSanitizer calls and the runtime of an older gcc does not have: it sees the functions of the
// C library itself.
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
