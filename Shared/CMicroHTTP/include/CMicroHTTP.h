#pragma once
// libmicrohttpd without variadic functions, and only what the server uses of it. Connections are
// pointers that stay the library's own. The daemon has some threads; what happens on one connection
// happens on one of them.
#include <stddef.h>
#include <stdint.h>

struct fusion_http_daemon;
struct fusion_http_identity;

enum { fusion_http_go_on = 1, fusion_http_close = 0 };
// Results of a reader beside a count of bytes.
enum { fusion_http_end = -1, fusion_http_broken = -2 };

struct fusion_http_calls {
    void *owner;
    // A connection is there; gives the context that later calls get.
    void *(*opened)(void *owner, void *connection);
    // Called before the socket is closed.
    void (*closed)(void *owner, void *context);
    // The request line has come. `target` is as sent, the rest of the line not yet changed. Gives
    // the exchange that later calls get.
    void *(*began)(void *owner, void *context, void *connection, const char *target);
    // Once for the head, with no bytes; once for each part of the body; once at its end, with no
    // bytes, and again after each resume. Gives fusion_http_go_on or fusion_http_close.
    int (*proceed)(void *owner, void *exchange, const char *method, const char *version,
                   const uint8_t *bytes, size_t count);
    // Whatever happened, nothing more comes of this exchange.
    void (*ended)(void *owner, void *exchange, int is_whole);
};

struct fusion_http_plan {
    struct fusion_http_calls calls;
    // Bound and listening; the daemon closes it.
    int listener;
    unsigned int threads;
    unsigned int connections_max;
    unsigned int idle_seconds;
    // Of one connection: what is read of a head, its fields, and the head of the answer.
    size_t memory_bytes;
    // NULL: no TLS. The daemon frees it when it stops.
    struct fusion_http_identity *identity;
    // GnuTLS's language; with an identity.
    const char *priorities;
};

struct fusion_http_daemon *fusion_http_start(const struct fusion_http_plan *plan);
// Nothing is accepted any more: false when the system had no descriptor for that.
int fusion_http_quiesce(struct fusion_http_daemon *daemon);
// Every suspended connection must have been resumed and have run.
void fusion_http_stop(struct fusion_http_daemon *daemon);

// A certificate chain and its key, from PEM. NULL, with a reason in `reason`, when they are none.
struct fusion_http_identity *fusion_http_identity_read(
    const uint8_t *chain, size_t chain_count, const uint8_t *key, size_t key_count,
    const char **reason);
// For connections to come; an earlier one goes with the last connection that took it.
void fusion_http_identify(struct fusion_http_daemon *daemon, struct fusion_http_identity *identity);
void fusion_http_identity_free(struct fusion_http_identity *identity);

// Of a connection
int fusion_http_socket(void *connection);
// Text of the other end's address; false when it is none of IP.
int fusion_http_address(void *connection, char *text, size_t capacity);
void fusion_http_suspend(void *connection);
void fusion_http_resume(void *connection);

// The head as it lies in the read buffer: its first byte is the method's, and `head_count` bytes of
// it, up to and with the empty line, may be read.
struct fusion_http_field {
    const uint8_t *name;
    size_t name_count;
    const uint8_t *value;
    size_t value_count;
};
size_t fusion_http_head_count(void *connection);
// Fields in the order of their coming; at most `capacity` are written. Gives how many there are.
size_t fusion_http_fields(void *connection, struct fusion_http_field *fields, size_t capacity);

// Answers
typedef long (*fusion_http_reader)(void *source, uint8_t *buffer, size_t capacity);
void *fusion_http_response_bytes(const uint8_t *bytes, size_t count);
// `done` gets the source when the library has no more use for it.
void *fusion_http_response_stream(
    fusion_http_reader reader, void *source, void (*done)(void *source), size_t piece_max);
int fusion_http_response_add(void *response, const char *name, const char *value);
// Drops the caller's hold on `response`, whatever comes of it. False when it cannot be sent.
int fusion_http_answer(void *connection, unsigned int status, void *response);
void fusion_http_response_drop(void *response);
