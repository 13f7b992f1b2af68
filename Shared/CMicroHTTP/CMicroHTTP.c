#define _GNU_SOURCE  // dup3
#include "CMicroHTTP.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { chain_max = 8 };

struct fusion_http_identity {
    gnutls_pcert_st chain[chain_max];
    unsigned int count;
    gnutls_privkey_t key;
    // The daemon, while it is the one to come, and connections whose handshake took it. Under the
    // daemon's lock.
    size_t users;
};

struct fusion_http_daemon {
    struct fusion_http_calls calls;
    struct MHD_Daemon *library;
    int listener;
    pthread_mutex_t lock;
    struct fusion_http_identity *identity;
};

// What a socket's context points to: the library tells a certificate's callback nothing else.
struct link {
    struct fusion_http_daemon *daemon;
    void *context;
    // What its handshake took; GnuTLS holds it without a copy.
    struct fusion_http_identity *identity;
};

static struct link *link_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? (struct link *)info->socket_context : NULL;
}

// With the lock held.
static void leave_identity(struct fusion_http_identity *identity) {
    if (identity && --identity->users == 0) fusion_http_identity_free(identity);
}

// MARK: Callbacks of the library

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct fusion_http_daemon *daemon = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct link *link = malloc(sizeof *link);
        if (!link) return;
        link->daemon = daemon;
        link->identity = NULL;
        link->context = daemon->calls.opened(daemon->calls.owner, connection);
        *context = link;
    } else if (*context) {
        struct link *link = *context;
        daemon->calls.closed(daemon->calls.owner, link->context);
        if (link->identity) {
            pthread_mutex_lock(&daemon->lock);
            leave_identity(link->identity);
            pthread_mutex_unlock(&daemon->lock);
        }
        free(link);
        *context = NULL;
    }
}

static void *on_target(void *cls, const char *target, struct MHD_Connection *connection) {
    struct fusion_http_daemon *daemon = cls;
    struct link *link = link_of(connection);
    if (!link || !target) return NULL;
    return daemon->calls.began(daemon->calls.owner, link->context, connection, target);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *count, void **exchange) {
    struct fusion_http_daemon *daemon = cls;
    (void)connection;
    (void)url;
    if (!*exchange) return MHD_NO;
    size_t given = *count;
    int result = daemon->calls.proceed(daemon->calls.owner, *exchange, method, version,
                                       (const uint8_t *)bytes, given);
    if (result != fusion_http_go_on) return MHD_NO;
    *count = 0;
    return MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode code) {
    struct fusion_http_daemon *daemon = cls;
    (void)connection;
    if (!*exchange) return;
    daemon->calls.ended(daemon->calls.owner, *exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *exchange = NULL;
}

// Paths stay as sent: the gateway decodes what it has matched.
static size_t keep_escaped(void *cls, struct MHD_Connection *connection, char *text) {
    (void)cls;
    (void)connection;
    return strlen(text);
}

static int on_handshake(gnutls_session_t session, const gnutls_datum_t *names, int name_count,
                        const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                        gnutls_pcert_st **chain, unsigned int *count, gnutls_privkey_t *key) {
    (void)names;
    (void)name_count;
    (void)algorithms;
    (void)algorithm_count;
    struct link *link = link_of(gnutls_session_get_ptr(session));
    if (!link) return -1;
    if (!link->identity) {
        pthread_mutex_lock(&link->daemon->lock);
        link->identity = link->daemon->identity;
        if (link->identity) link->identity->users++;
        pthread_mutex_unlock(&link->daemon->lock);
    }
    struct fusion_http_identity *identity = link->identity;
    if (!identity) return -1;
    *chain = identity->chain;
    *count = identity->count;
    *key = identity->key;
    return 0;
}

// MARK: Life

struct fusion_http_daemon *fusion_http_start(const struct fusion_http_plan *plan) {
    struct fusion_http_daemon *daemon = calloc(1, sizeof *daemon);
    if (!daemon) return NULL;
    daemon->calls = plan->calls;
    daemon->listener = plan->listener;
    if (pthread_mutex_init(&daemon->lock, NULL) != 0) {
        free(daemon);
        return NULL;
    }
    daemon->identity = plan->identity;
    if (plan->identity) plan->identity->users = 1;
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME;
    if (plan->identity) flags |= MHD_USE_TLS;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)plan->priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)&on_handshake},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem pool[] = {
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)plan->threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    daemon->library = MHD_start_daemon(
        flags, 0, NULL, NULL, &on_request, daemon,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)plan->listener,
        MHD_OPTION_CONNECTION_LIMIT, plan->connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, plan->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, plan->memory_bytes,
        MHD_OPTION_NOTIFY_CONNECTION, &on_connection, daemon,
        MHD_OPTION_URI_LOG_CALLBACK, &on_target, daemon,
        MHD_OPTION_UNESCAPE_CALLBACK, &keep_escaped, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, &on_completed, daemon,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_ARRAY, plan->threads > 1 ? pool : none,
        MHD_OPTION_ARRAY, plan->identity ? secure : none,
        MHD_OPTION_END);
    if (daemon->library) return daemon;
    pthread_mutex_destroy(&daemon->lock);
    free(daemon);
    return NULL;
}

// MHD_quiesce_daemon aborts the process when it and a thread of the daemon take the listener out of
// the same epoll set at once. In its stead the listener's number gets a descriptor that is never
// ready: the system then drops the listening socket, and the daemon sees silence.
int fusion_http_quiesce(struct fusion_http_daemon *daemon) {
    int silent = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (silent < 0) return 0;
    int is_done = dup3(silent, daemon->listener, O_CLOEXEC) >= 0;
    close(silent);
    return is_done;
}

void fusion_http_stop(struct fusion_http_daemon *daemon) {
    MHD_stop_daemon(daemon->library);
    // Every connection has been closed, and has left what it took.
    leave_identity(daemon->identity);
    pthread_mutex_destroy(&daemon->lock);
    free(daemon);
}

// MARK: TLS

struct fusion_http_identity *fusion_http_identity_read(
    const uint8_t *chain, size_t chain_count, const uint8_t *key, size_t key_count,
    const char **reason) {
    struct fusion_http_identity *identity = calloc(1, sizeof *identity);
    if (!identity) return NULL;
    gnutls_datum_t chain_text = {(unsigned char *)chain, (unsigned int)chain_count};
    gnutls_datum_t key_text = {(unsigned char *)key, (unsigned int)key_count};
    identity->count = chain_max;
    int status = gnutls_pcert_list_import_x509_raw(
        identity->chain, &identity->count, &chain_text, GNUTLS_X509_FMT_PEM, 0);
    if (status < 0) {
        *reason = gnutls_strerror(status);
        free(identity);
        return NULL;
    }
    status = gnutls_privkey_init(&identity->key);
    if (status >= 0)
        status = gnutls_privkey_import_x509_raw(
            identity->key, &key_text, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (status >= 0) {
        // Both must be of one pair, or every handshake would fail.
        unsigned char of_chain[32], of_key[32];
        size_t of_chain_count = sizeof of_chain, of_key_count = sizeof of_key;
        gnutls_pubkey_t public_key;
        status = gnutls_pubkey_init(&public_key);
        if (status >= 0) {
            status = gnutls_pubkey_import_privkey(public_key, identity->key, 0, 0);
            if (status >= 0)
                status = gnutls_pubkey_get_key_id(
                    public_key, GNUTLS_KEYID_USE_SHA256, of_key, &of_key_count);
            gnutls_pubkey_deinit(public_key);
        }
        if (status >= 0)
            status = gnutls_pubkey_get_key_id(
                identity->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, of_chain, &of_chain_count);
        if (status >= 0 &&
            (of_chain_count != of_key_count || memcmp(of_chain, of_key, of_key_count) != 0))
            status = GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
    }
    if (status < 0) {
        *reason = gnutls_strerror(status);
        fusion_http_identity_free(identity);
        return NULL;
    }
    return identity;
}

void fusion_http_identify(
    struct fusion_http_daemon *daemon, struct fusion_http_identity *identity) {
    pthread_mutex_lock(&daemon->lock);
    leave_identity(daemon->identity);
    identity->users = 1;
    daemon->identity = identity;
    pthread_mutex_unlock(&daemon->lock);
}

void fusion_http_identity_free(struct fusion_http_identity *identity) {
    if (!identity) return;
    for (unsigned int index = 0; index < identity->count; index++)
        gnutls_pcert_deinit(&identity->chain[index]);
    if (identity->key) gnutls_privkey_deinit(identity->key);
    free(identity);
}

// MARK: Connections

int fusion_http_socket(void *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

int fusion_http_address(void *connection, char *text, size_t capacity) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return 0;
    const void *bytes = NULL;
    if (info->client_addr->sa_family == AF_INET)
        bytes = &((const struct sockaddr_in *)info->client_addr)->sin_addr;
    else if (info->client_addr->sa_family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr;
    return bytes && inet_ntop(info->client_addr->sa_family, bytes, text, (socklen_t)capacity);
}

void fusion_http_suspend(void *connection) { MHD_suspend_connection(connection); }
void fusion_http_resume(void *connection) { MHD_resume_connection(connection); }

size_t fusion_http_head_count(void *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

struct field_walk {
    struct fusion_http_field *fields;
    size_t capacity;
    size_t count;
};

static enum MHD_Result on_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                size_t name_count, const char *value, size_t value_count) {
    struct field_walk *walk = cls;
    (void)kind;
    if (walk->count < walk->capacity) {
        struct fusion_http_field *field = &walk->fields[walk->count];
        field->name = (const uint8_t *)name;
        field->name_count = name_count;
        field->value = (const uint8_t *)value;
        field->value_count = value_count;
    }
    walk->count++;
    return MHD_YES;
}

size_t fusion_http_fields(void *connection, struct fusion_http_field *fields, size_t capacity) {
    struct field_walk walk = {fields, capacity, 0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &on_field, &walk);
    return walk.count;
}

// MARK: Answers

struct stream {
    fusion_http_reader reader;
    void *source;
    void (*done)(void *source);
};

static ssize_t on_read(void *cls, uint64_t position, char *buffer, size_t capacity) {
    struct stream *stream = cls;
    (void)position;
    long count = stream->reader(stream->source, (uint8_t *)buffer, capacity);
    if (count == fusion_http_end) return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0) return MHD_CONTENT_READER_END_WITH_ERROR;
    return count;
}

static void on_read_done(void *cls) {
    struct stream *stream = cls;
    stream->done(stream->source);
    free(stream);
}

void *fusion_http_response_bytes(const uint8_t *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

void *fusion_http_response_stream(
    fusion_http_reader reader, void *source, void (*done)(void *source), size_t piece_max) {
    struct stream *stream = malloc(sizeof *stream);
    if (!stream) return NULL;
    stream->reader = reader;
    stream->source = source;
    stream->done = done;
    void *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, piece_max, &on_read, stream, &on_read_done);
    if (!response) free(stream);
    return response;
}

int fusion_http_response_add(void *response, const char *name, const char *value) {
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

int fusion_http_answer(void *connection, unsigned int status, void *response) {
    int is_sent = MHD_queue_response(connection, status, response) == MHD_YES;
    MHD_destroy_response(response);
    return is_sent;
}

void fusion_http_response_drop(void *response) { MHD_destroy_response(response); }
