/* For numbers of more than 19 digits: page_units.c has what reads them. */
#ifndef MOTE_WASM_LOCALE_H
#define MOTE_WASM_LOCALE_H

typedef int locale_t;
#define LC_ALL_MASK 0
locale_t newlocale(int mask, const char *name, locale_t base);
void freelocale(locale_t locale);

#endif
