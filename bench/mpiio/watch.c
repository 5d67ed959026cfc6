/* What a rank does between its first transfer and the end of its last one: elapsed and CPU time. With $ASSAY_WATCH_FLUSH the
 * flush after that belongs to it; otherwise a program may flush when its own clock has stopped.
 *
 * Loaded before the MPI library into whatever program (LD_PRELOAD), so that two programs are measured alike, by MPI's own
 * interface for profiling (MPI-3.1 section 14.2). Each file that is closed after a transfer is a line in
 * $ASSAY_WATCH.RANK: the operation, when it began and ended on the monotonic clock, CPU time, calls and bytes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static long long began, ended, cpu, took, calls, bytes;
static const char *operation;

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL
        + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
}

static void end(void)
{
    took = used() - cpu;
    ended = now();
}

static void begin(const char *name, int count)
{
    if (!operation) {
        operation = name;
        cpu = used();
        began = now();
        calls = bytes = 0;
    }
    calls++;
    bytes += count;
}

#define TRANSFER(call, word, constness) \
    int call(MPI_File file, MPI_Offset offset, constness void *data, int count, MPI_Datatype type, MPI_Status *status) \
    { \
        int size, code; \
        MPI_Type_size(type, &size); \
        begin(word, count * size); \
        code = P##call(file, offset, data, count, type, status); \
        end(); \
        return code; \
    }

TRANSFER(MPI_File_write_at, "write", const)
TRANSFER(MPI_File_write_at_all, "write", const)
TRANSFER(MPI_File_read_at, "read", )
TRANSFER(MPI_File_read_at_all, "read", )

int MPI_File_sync(MPI_File file)
{
    int code = PMPI_File_sync(file);
    if (getenv("ASSAY_WATCH_FLUSH"))
        end();
    return code;
}

int MPI_File_close(MPI_File *file)
{
    if (operation) {
        char name[4096];
        int rank;
        FILE *out;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(name, sizeof name, "%s.%d", getenv("ASSAY_WATCH"), rank);
        out = fopen(name, "a");
        if (out) {
            fprintf(out, "%s %lld %lld %lld %lld %lld\n", operation, began, ended, took, calls, bytes);
            fclose(out);
        }
        operation = NULL;
    }
    return PMPI_File_close(file);
}
