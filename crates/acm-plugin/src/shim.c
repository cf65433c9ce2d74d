/* Functions for providers that Rust cannot define: a variadic one, and those that need the address of their caller. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

/* Maximum size of a log line in bytes; longer lines are truncated. */
#define LINE 1024

int acm_plugin_takes(int level);
void acm_plugin_write(int level, const char *text, size_t size, const void *caller);
void acm_plugin_count(int counter, const void *caller);

EXPORT void acm_write(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
EXPORT void acm_increment_counter(int counter);

void acm_write(int level, const char *format, ...)
{
	char text[LINE];
	va_list values;
	int size;

	if (!acm_plugin_takes(level))
		return;
	va_start(values, format);
	size = vsnprintf(text, sizeof text, format, values);
	va_end(values);
	if (size < 0)
		return;
	acm_plugin_write(level, text, (size_t) size < sizeof text ? (size_t) size : sizeof text - 1,
			 __builtin_return_address(0));
}

void acm_increment_counter(int counter)
{
	acm_plugin_count(counter, __builtin_return_address(0));
}
