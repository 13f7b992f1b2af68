#pragma once
#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>

/// `gnutls_free` is a variable, which Swift does not let anyone read from several threads.
static inline void cgnutls_free(void *memory) { gnutls_free(memory); }
