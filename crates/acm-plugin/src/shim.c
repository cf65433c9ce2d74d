/* Functions for providers that Rust cannot define: one with any number of arguments, and those that must know which
   library called. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

/* Bytes of one line of the log; the rest is cut off. */
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
