#pragma once
// Only what Swift's Glibc module lacks. Nothing that module has is included with other feature
// macros: Swift refuses a struct that two modules see differently.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

// Declared by the C library for _GNU_SOURCE alone.
struct sockaddr;
int pipe2(int descriptors[2], int flags);
int accept4(int socket, struct sockaddr *address, unsigned int *length, int flags);

// Locks that belong to the open file and not to the process (fcntl(2)).
enum { fusion_get_file_lock = 36, fusion_set_file_lock = 37 };

// WIFEXITED and its kin are macros, which Swift does not see.
static inline int fusion_exited(int status) { return WIFEXITED(status); }
static inline int fusion_exit_status(int status) { return WEXITSTATUS(status); }
static inline int fusion_term_signal(int status) { return WTERMSIG(status); }

// prctl is variadic, which Swift does not call.
static inline int fusion_die_with_parent(int signal) {
    return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0);
}
static inline int fusion_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
