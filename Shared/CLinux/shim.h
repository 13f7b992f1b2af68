#pragma once
// Read with the same feature macros as Swift's Glibc module: a struct that two modules see differently
// (fd_set under _GNU_SOURCE) is refused as soon as a third module loads both.
#include "calls.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// Declared by the C library for _GNU_SOURCE alone.
int pthread_setname_np(pthread_t thread, const char *name);
