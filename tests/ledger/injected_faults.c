/* Stands between a process and its file system (LD_PRELOAD), for the ledger's tests.
 *
 * It watches the paths that begin with one path, and the folder that they are in. It makes the n-th
 * operation on them fail, be done in part, or be the last one of the process; and it writes down all
 * that changes what a disk holds, with the bytes. What is not watched goes through untouched. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, CUT = 8, UNLINK = 16, READ = 32, LOCK = 64, STAT = 128,
       CLOSE = 256 };
enum { FAIL = 1, SHORT, TORN, KILL_BEFORE, KILL_WITHIN, KILL_AFTER };
enum { MOST_FILES = 4096 };

static char watched[4096], folder[4096];
static char is_watched[MOST_FILES];
static int mask, action, error_number, again, log_file = -1;
static long number, counted, struck;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        _exit(99);
    return found;
}

/* What the tests call. */

void faults_watch(const char *path)
{
    snprintf(watched, sizeof watched, "%s", path);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
}

void faults_arm(int operations, long at, int what, int with_error, int from_there_on)
{
    mask = operations, number = at, action = what, error_number = with_error,
    again = from_there_on, counted = struck = 0;
}

long faults_counted(void) { return counted; }
long faults_struck(void) { return struck; }
void faults_log(int file) { log_file = file; }

static void put(const void *bytes, size_t length)
{
    static ssize_t (*write_on)(int, const void *, size_t);
    const char *rest = bytes;
    if (write_on == NULL)
        write_on = REAL(write);
    while (length > 0) {
        ssize_t done = write_on(log_file, rest, length);
        if (done <= 0)
            _exit(98);
        rest += done, length -= done;
    }
}

static void note(const char *what, int file, long long where, const void *bytes, size_t length)
{
    char head[100];
    int kept = errno;
    if (log_file < 0)
        return;
    put(head, snprintf(head, sizeof head, "%s %d %lld %zu\n", what, file, where, length));
    put(bytes, length);
    errno = kept;
}

void faults_mark(const char *text) { note("mark", -1, 0, text, strlen(text)); }

/* Whether it is watched, and what befalls it. */

static int is_ours(const char *path)
{
    return path != NULL && watched[0] != 0
        && (strncmp(path, watched, strlen(watched)) == 0 || strcmp(path, folder) == 0);
}

static int is_open(int file) { return file >= 0 && file < MOST_FILES && is_watched[file]; }

static int befalls(int operation)
{
    if (!(operation & mask))
        return 0;
    counted++;
    if (counted != number && !(again && counted > number))
        return 0;
    struck++;
    if (action == KILL_BEFORE || (action == KILL_WITHIN && operation != WRITE))
        kill(getpid(), SIGKILL);
    return action;
}

static void end_after(int what)
{
    if (what == KILL_AFTER)
        kill(getpid(), SIGKILL);
}

#define STRUCK_OR(operation, result, done)      \
    int what = befalls(operation);              \
    if (what == FAIL) {                         \
        errno = error_number;                   \
        return -1;                              \
    }                                           \
    result = done;                              \
    end_after(what)

/* Opening and closing. */

static int opened(const char *path, int flags, int mode)
{
    struct stat64 there;
    int is_new = REAL(stat64)(path, &there) != 0, file;
    STRUCK_OR(OPEN, file, REAL(open64)(path, flags, mode));
    if (file >= 0 && file < MOST_FILES) {
        is_watched[file] = 1;
        note("open", file, is_new, path, strlen(path));
        if (flags & O_TRUNC)
            note("cut", file, 0, "", 0);
    }
    return file;
}

#define OPENS(name)                                     \
    int name(const char *path, int flags, ...)          \
    {                                                   \
        va_list rest;                                   \
        va_start(rest, flags);                          \
        int mode = va_arg(rest, int);                   \
        va_end(rest);                                   \
        if (is_ours(path))                              \
            return opened(path, flags, mode);           \
        return REAL(name)(path, flags, mode);           \
    }

OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                          \
    int name(int at, const char *path, int flags, ...)          \
    {                                                           \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        int mode = va_arg(rest, int);                           \
        va_end(rest);                                           \
        if (is_ours(path))                                      \
            return opened(path, flags, mode);                   \
        return REAL(name)(at, path, flags, mode);               \
    }

OPENS_AT(openat)
OPENS_AT(openat64)

int close(int file)
{
    int result;
    if (!is_open(file))
        return REAL(close)(file);
    is_watched[file] = 0;
    note("close", file, 0, "", 0);
    result = REAL(close)(file); /* a file whose close fails is closed all the same */
    int what = befalls(CLOSE);
    end_after(what);
    if (what == FAIL) {
        errno = error_number;
        return -1;
    }
    return result;
}

/* Reading and writing. */

static ssize_t wrote(int file, const void *bytes, size_t length, off64_t where)
{
    int what = befalls(WRITE);
    ssize_t done;
    if (what == FAIL) {
        errno = error_number;
        return -1;
    }
    if (what == SHORT || what == TORN || what == KILL_WITHIN)
        length = length > 1 ? length / 2 : length;
    done = REAL(pwrite64)(file, bytes, length, where);
    if (done > 0)
        note("write", file, where, bytes, done);
    if (what == TORN) /* what comes next fails */
        action = FAIL, number = counted + 1;
    if (what == KILL_WITHIN)
        kill(getpid(), SIGKILL);
    end_after(what);
    return done;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t where)
{
    return is_open(file) ? wrote(file, bytes, length, where)
                         : REAL(pwrite)(file, bytes, length, where);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t where)
{
    return is_open(file) ? wrote(file, bytes, length, where)
                         : REAL(pwrite64)(file, bytes, length, where);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    if (!is_open(file))
        return REAL(write)(file, bytes, length);
    ssize_t done = wrote(file, bytes, length, lseek64(file, 0, SEEK_CUR));
    if (done > 0)
        lseek64(file, done, SEEK_CUR);
    return done;
}

ssize_t read(int file, void *bytes, size_t length)
{
    ssize_t done;
    if (!is_open(file))
        return REAL(read)(file, bytes, length);
    STRUCK_OR(READ, done, REAL(read)(file, bytes, length));
    return done;
}

ssize_t pread(int file, void *bytes, size_t length, off_t where)
{
    ssize_t done;
    if (!is_open(file))
        return REAL(pread)(file, bytes, length, where);
    STRUCK_OR(READ, done, REAL(pread)(file, bytes, length, where));
    return done;
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t where)
{
    ssize_t done;
    if (!is_open(file))
        return REAL(pread64)(file, bytes, length, where);
    STRUCK_OR(READ, done, REAL(pread64)(file, bytes, length, where));
    return done;
}

/* Making it last, cutting, deleting. */

#define SYNCS(name)                                     \
    int name(int file)                                  \
    {                                                   \
        int done;                                       \
        if (!is_open(file))                             \
            return REAL(name)(file);                    \
        STRUCK_OR(SYNC, done, (note("sync", file, 0, "", 0), 0)); \
        return done;                                    \
    }

/* The disk is not waited for: whether a file lasts is what the log says, not what this machine did. */
SYNCS(fsync)
SYNCS(fdatasync)

#define CUTS(name, type)                                \
    int name(int file, type length)                     \
    {                                                   \
        int done;                                       \
        if (!is_open(file))                             \
            return REAL(name)(file, length);            \
        STRUCK_OR(CUT, done, REAL(name)(file, length)); \
        if (done == 0)                                  \
            note("cut", file, length, "", 0);           \
        return done;                                    \
    }

CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

int unlink(const char *path)
{
    int done;
    if (!is_ours(path))
        return REAL(unlink)(path);
    STRUCK_OR(UNLINK, done, REAL(unlink)(path));
    if (done == 0)
        note("unlink", -1, 0, path, strlen(path));
    return done;
}

/* Looking and locking. */

#define LOOKS(name, type, given, is_it)                 \
    int name(given file, struct type *found)            \
    {                                                   \
        int done;                                       \
        if (!is_it(file))                               \
            return REAL(name)(file, found);             \
        STRUCK_OR(STAT, done, REAL(name)(file, found)); \
        return done;                                    \
    }

LOOKS(fstat, stat, int, is_open)
LOOKS(fstat64, stat64, int, is_open)
LOOKS(stat, stat, const char *, is_ours)
LOOKS(stat64, stat64, const char *, is_ours)

#define LOCKS(name)                                             \
    int name(int file, int command, ...)                        \
    {                                                           \
        int done;                                               \
        va_list rest;                                           \
        va_start(rest, command);                                \
        void *given = va_arg(rest, void *);                     \
        va_end(rest);                                           \
        if (!is_open(file) || (command != F_SETLK && command != F_GETLK)) \
            return REAL(name)(file, command, given);            \
        STRUCK_OR(LOCK, done, REAL(name)(file, command, given)); \
        return done;                                            \
    }

LOCKS(fcntl)
LOCKS(fcntl64)
