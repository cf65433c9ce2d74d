/*
 * Lets a Rust program use libumad2sim, which knows only libumad: the program calls open64 instead of open, checks with
 * fcntl that a descriptor is open, and expects the C library's errno. Without umad_open_port, libumad has the header of 56
 * bytes, and the program that of 64 bytes. The descriptors of libumad2sim begin at 1024.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define FIRST 1024
#define HEADER 64

int umad_size(void)
{
	return HEADER;
}

void *umad_get_mad(void *umad)
{
	return (char *)umad + HEADER;
}

int open(const char *path, int flags, ...);

int open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	int mode = va_arg(rest, int);
	va_end(rest);
	return open(path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	va_list rest;
	va_start(rest, command);
	long value = va_arg(rest, long);
	va_end(rest);
	return fd >= FIRST ? 0 : (int)syscall(SYS_fcntl, fd, command, value);
}

ssize_t read(int fd, void *buffer, size_t count)
{
	ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	ssize_t done = next(fd, buffer, count);
	if (fd < FIRST || done >= -1)
		return done;
	errno = -done;
	return -1;
}
