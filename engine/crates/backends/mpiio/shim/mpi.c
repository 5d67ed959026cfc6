/* The MPI functions that the backend needs, with plain C types only.
 *
 * MPI has no binary interface of its own: handles, statuses, constants and error classes differ from library to
 * library, and many of its names are macros. So this file is compiled by the MPI's own mpicc, and Rust sees none of
 * that.
 *
 * Functions return 0 or a number of bytes on success, and the negative number of an error class (`numbers`) on failure.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { WRITES = 1, TOGETHER = 2, INDIVIDUAL = 4, COMMON = 8 };
enum { VECTOR = 1, SUBARRAY = 2 };
enum { CREATE = 1, EXCLUSIVE = 2, READ_ONLY = 4, SHARED = 8, ATOMIC = 16 };

struct assay_file {
    MPI_File file;
    /* Position of the individual pointer; negative: unknown. */
    MPI_Offset position;
    int slots;
    MPI_Request *requests;
    int *ended;
    MPI_Status *statuses;
};

/* All ranks, separate from what the library does on MPI_COMM_WORLD. */
static MPI_Comm all = MPI_COMM_NULL;
/* The library's message for the last error. */
static char message[MPI_MAX_ERROR_STRING + 1];

/* MPI's classes, which each library numbers as it likes, by the numbers of Open MPI's mpi.h. */
static const struct { int class, number; } numbers[] = {
    {MPI_ERR_BUFFER, 1}, {MPI_ERR_COUNT, 2}, {MPI_ERR_TYPE, 3}, {MPI_ERR_TAG, 4}, {MPI_ERR_COMM, 5}, {MPI_ERR_RANK, 6},
    {MPI_ERR_REQUEST, 7}, {MPI_ERR_ROOT, 8}, {MPI_ERR_GROUP, 9}, {MPI_ERR_OP, 10}, {MPI_ERR_TOPOLOGY, 11},
    {MPI_ERR_DIMS, 12}, {MPI_ERR_ARG, 13}, {MPI_ERR_UNKNOWN, 14}, {MPI_ERR_TRUNCATE, 15}, {MPI_ERR_OTHER, 16},
    {MPI_ERR_INTERN, 17}, {MPI_ERR_IN_STATUS, 18}, {MPI_ERR_PENDING, 19}, {MPI_ERR_ACCESS, 20}, {MPI_ERR_AMODE, 21},
    {MPI_ERR_BAD_FILE, 23}, {MPI_ERR_CONVERSION, 25}, {MPI_ERR_DUP_DATAREP, 27}, {MPI_ERR_FILE_EXISTS, 28},
    {MPI_ERR_FILE_IN_USE, 29}, {MPI_ERR_FILE, 30}, {MPI_ERR_INFO_KEY, 31}, {MPI_ERR_INFO_NOKEY, 32},
    {MPI_ERR_INFO_VALUE, 33}, {MPI_ERR_INFO, 34}, {MPI_ERR_IO, 35}, {MPI_ERR_NO_MEM, 39}, {MPI_ERR_NOT_SAME, 40},
    {MPI_ERR_NO_SPACE, 41}, {MPI_ERR_NO_SUCH_FILE, 42}, {MPI_ERR_QUOTA, 44}, {MPI_ERR_READ_ONLY, 45},
    {MPI_ERR_UNSUPPORTED_DATAREP, 51}, {MPI_ERR_UNSUPPORTED_OPERATION, 52},
};

/* The negative number of a return code's class, or 0 for success; stores the library's message. */
static int failed(int code)
{
    int class = MPI_ERR_UNKNOWN, length = 0;
    size_t place;
    if (code == MPI_SUCCESS)
        return 0;
    if (MPI_Error_string(code, message, &length) != MPI_SUCCESS)
        length = 0;
    message[length] = 0;
    MPI_Error_class(code, &class);
    for (place = 0; place < sizeof numbers / sizeof *numbers; place++)
        if (numbers[place].class == class)
            return -numbers[place].number;
    return -14;
}

const char *assay_mpi_message(void)
{
    return message;
}

/* `text` has room for MPI_MAX_LIBRARY_VERSION_STRING, which is 8192 at most. May be called at any time. */
void assay_mpi_library(char *text)
{
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = 0;
}

int assay_mpi_begin(int *rank, int *size, int *on_host)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Comm host;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (code != MPI_SUCCESS)
        return failed(code);
    if (provided < MPI_THREAD_SERIALIZED) {
        strcpy(message, "the MPI library takes no calls of a second thread (MPI_THREAD_SERIALIZED)");
        return -52;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    code = MPI_Comm_dup(MPI_COMM_WORLD, &all);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    if (code != MPI_SUCCESS)
        return failed(code);
    MPI_Comm_rank(host, on_host);
    MPI_Comm_free(&host);
    return 0;
}

int assay_mpi_end(void)
{
    MPI_Comm_free(&all);
    return failed(MPI_Finalize());
}

/* Replaces each value by its minimum over all ranks. */
int assay_mpi_least(long long *values, int count)
{
    return failed(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_LONG_LONG, MPI_MIN, all));
}

static int allocate_slots(struct assay_file *file, int slots)
{
    int slot;
    file->slots = slots;
    file->requests = malloc(slots * sizeof *file->requests);
    file->ended = malloc(slots * sizeof *file->ended);
    file->statuses = malloc(slots * sizeof *file->statuses);
    if (!file->requests || !file->ended || !file->statuses)
        return 0;
    for (slot = 0; slot < slots; slot++)
        file->requests[slot] = MPI_REQUEST_NULL;
    return 1;
}

static void free_file(struct assay_file *file)
{
    free(file->requests);
    free(file->ended);
    free(file->statuses);
    free(file);
}

/* `hints`: name, value, name, value, ..., null. */
int assay_mpi_open(struct assay_file **opened, const char *path, int flags, const char *const *hints, int slots)
{
    int code = MPI_SUCCESS;
    int mode = MPI_MODE_UNIQUE_OPEN | (flags & READ_ONLY ? MPI_MODE_RDONLY : MPI_MODE_RDWR)
        | (flags & CREATE ? MPI_MODE_CREATE : 0) | (flags & EXCLUSIVE ? MPI_MODE_EXCL : 0);
    MPI_Info info = MPI_INFO_NULL;
    struct assay_file *file = calloc(1, sizeof *file);
    if (!file || !allocate_slots(file, slots))
        return -39;
    if (*hints)
        code = MPI_Info_create(&info);
    for (; code == MPI_SUCCESS && *hints; hints += 2)
        code = MPI_Info_set(info, hints[0], hints[1]);
    if (code == MPI_SUCCESS)
        code = MPI_File_open(flags & SHARED ? all : MPI_COMM_SELF, path, mode, info, &file->file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (code != MPI_SUCCESS) {
        free_file(file);
        return failed(code);
    }
    MPI_File_set_errhandler(file->file, MPI_ERRORS_RETURN);
    if (flags & ATOMIC)
        code = MPI_File_set_atomicity(file->file, 1);
    *opened = file;
    return failed(code);
}

int assay_mpi_preallocate(struct assay_file *file, long long size)
{
    return failed(MPI_File_preallocate(file->file, size));
}

/* Writes the hints in use into `text`, each name and value with a closing zero. Returns the number of bytes. */
int assay_mpi_hints(struct assay_file *file, char *text, int room)
{
    MPI_Info info;
    int count = 0, number, used = 0, code = MPI_File_get_info(file->file, &info);
    if (code != MPI_SUCCESS)
        return failed(code);
    MPI_Info_get_nkeys(info, &count);
    for (number = 0; number < count; number++) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int there = 0, needed;
        MPI_Info_get_nthkey(info, number, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
        needed = strlen(key) + strlen(value) + 2;
        if (!there || needed > room - used)
            continue;
        used += 1 + strlen(strcpy(text + used, key));
        used += 1 + strlen(strcpy(text + used, value));
    }
    MPI_Info_free(&info);
    return used;
}

/* Sets the view of this rank: pieces of `piece` bytes that the `ranks` ranks have in turn; `count` of its pieces make
 * the file type. Offsets are then in bytes within the rank's own pieces. */
int assay_mpi_view(struct assay_file *file, int shape, int piece, int count, int ranks, int rank)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
    MPI_Offset first = 0;
    int code;
    if (shape == VECTOR) {
        /* A vector ends with its last piece; the next one begins after the pieces of all ranks. */
        code = MPI_Type_vector(count, piece, piece * ranks, MPI_BYTE, &type);
        if (code == MPI_SUCCESS)
            code = MPI_Type_create_resized(type, 0, (MPI_Aint)count * piece * ranks, &whole);
        first = (MPI_Offset)piece * rank;
    } else {
        int sizes[] = {count, piece * ranks}, own[] = {count, piece}, starts[] = {0, piece * rank};
        code = MPI_Type_create_subarray(2, sizes, own, starts, MPI_ORDER_C, MPI_BYTE, &whole);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&whole);
    if (code == MPI_SUCCESS)
        code = MPI_File_set_view(file->file, first, MPI_BYTE, whole, "native", MPI_INFO_NULL);
    if (whole != MPI_DATATYPE_NULL)
        MPI_Type_free(&whole);
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    file->position = 0;
    return failed(code);
}

int assay_mpi_sync(struct assay_file *file)
{
    return failed(MPI_File_sync(file->file));
}

int assay_mpi_close(struct assay_file *file)
{
    int code = MPI_File_close(&file->file);
    free_file(file);
    return failed(code);
}

/* Moves the individual pointer, unless it is there already. */
static int seek(struct assay_file *file, long long offset)
{
    int code;
    if (file->position == offset)
        return MPI_SUCCESS;
    code = MPI_File_seek(file->file, offset, MPI_SEEK_SET);
    file->position = code == MPI_SUCCESS ? offset : -1;
    return code;
}

/* Executes one operation; returns the bytes that it has moved. */
long long assay_mpi_transfer(struct assay_file *file, int how, long long offset, void *data, int length)
{
    MPI_File fh = file->file;
    MPI_Status status;
    int code = how & INDIVIDUAL ? seek(file, offset) : MPI_SUCCESS, moved = 0;
    if (code != MPI_SUCCESS)
        return failed(code);
    switch (how) {
    case 0: code = MPI_File_read_at(fh, offset, data, length, MPI_BYTE, &status); break;
    case WRITES: code = MPI_File_write_at(fh, offset, data, length, MPI_BYTE, &status); break;
    case TOGETHER: code = MPI_File_read_at_all(fh, offset, data, length, MPI_BYTE, &status); break;
    case TOGETHER | WRITES: code = MPI_File_write_at_all(fh, offset, data, length, MPI_BYTE, &status); break;
    case INDIVIDUAL: code = MPI_File_read(fh, data, length, MPI_BYTE, &status); break;
    case INDIVIDUAL | WRITES: code = MPI_File_write(fh, data, length, MPI_BYTE, &status); break;
    case INDIVIDUAL | TOGETHER: code = MPI_File_read_all(fh, data, length, MPI_BYTE, &status); break;
    case COMMON: code = MPI_File_read_shared(fh, data, length, MPI_BYTE, &status); break;
    case COMMON | WRITES: code = MPI_File_write_shared(fh, data, length, MPI_BYTE, &status); break;
    case COMMON | TOGETHER: code = MPI_File_read_ordered(fh, data, length, MPI_BYTE, &status); break;
    case COMMON | TOGETHER | WRITES: code = MPI_File_write_ordered(fh, data, length, MPI_BYTE, &status); break;
    default: code = MPI_File_write_all(fh, data, length, MPI_BYTE, &status); break;
    }
    if (code == MPI_SUCCESS && length > 0)
        code = MPI_Get_count(&status, MPI_BYTE, &moved);
    if (how & INDIVIDUAL)
        file->position = code == MPI_SUCCESS && moved == length ? offset + length : -1;
    return code == MPI_SUCCESS ? moved : failed(code);
}

#if MPI_VERSION > 3 || (MPI_VERSION == 3 && MPI_SUBVERSION >= 1)
#define IF_3_1(call) call
#else
#define IF_3_1(call) MPI_ERR_UNSUPPORTED_OPERATION
#endif

/* Starts an operation; `assay_mpi_some` reports its end by the slot. */
int assay_mpi_start(struct assay_file *file, int how, int slot, long long offset, void *data, int length)
{
    MPI_File fh = file->file;
    MPI_Request *request = &file->requests[slot];
    int code = how & INDIVIDUAL ? seek(file, offset) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return failed(code);
    switch (how) {
    case 0: code = MPI_File_iread_at(fh, offset, data, length, MPI_BYTE, request); break;
    case WRITES: code = MPI_File_iwrite_at(fh, offset, data, length, MPI_BYTE, request); break;
    case TOGETHER: code = IF_3_1(MPI_File_iread_at_all(fh, offset, data, length, MPI_BYTE, request)); break;
    case TOGETHER | WRITES: code = IF_3_1(MPI_File_iwrite_at_all(fh, offset, data, length, MPI_BYTE, request)); break;
    case INDIVIDUAL: code = MPI_File_iread(fh, data, length, MPI_BYTE, request); break;
    case INDIVIDUAL | WRITES: code = MPI_File_iwrite(fh, data, length, MPI_BYTE, request); break;
    case INDIVIDUAL | TOGETHER: code = IF_3_1(MPI_File_iread_all(fh, data, length, MPI_BYTE, request)); break;
    case COMMON: code = MPI_File_iread_shared(fh, data, length, MPI_BYTE, request); break;
    case COMMON | WRITES: code = MPI_File_iwrite_shared(fh, data, length, MPI_BYTE, request); break;
    /* MPI has no such call. */
    case COMMON | TOGETHER: case COMMON | TOGETHER | WRITES: code = MPI_ERR_UNSUPPORTED_OPERATION; break;
    default: code = IF_3_1(MPI_File_iwrite_all(fh, data, length, MPI_BYTE, request)); break;
    }
    if (how & INDIVIDUAL)
        file->position = code == MPI_SUCCESS ? offset + length : -1;
    return failed(code);
}

/* Polls for operations that have ended: returns how many, their slots, and the results as of `assay_mpi_transfer`. */
int assay_mpi_some(struct assay_file *file, int *slots, long long *results)
{
    int count = 0, place;
    int code = MPI_Testsome(file->slots, file->requests, &count, file->ended, file->statuses);
    int has_statuses = code != MPI_SUCCESS && count != MPI_UNDEFINED;
    if (count == MPI_UNDEFINED)
        return failed(code);
    for (place = 0; place < count; place++) {
        int moved = 0, one = has_statuses ? file->statuses[place].MPI_ERROR : MPI_SUCCESS;
        if (one == MPI_SUCCESS)
            one = MPI_Get_count(&file->statuses[place], MPI_BYTE, &moved);
        if (moved == MPI_UNDEFINED)
            moved = 0;
        slots[place] = file->ended[place];
        results[place] = one == MPI_SUCCESS ? moved : failed(one);
    }
    return count;
}
