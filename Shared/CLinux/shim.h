#pragma once
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>
#include <sys/random.h>

// prctl is variadic, which Swift does not import.
static inline int fusion_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
