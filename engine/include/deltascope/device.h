#ifndef DELTASCOPE_DEVICE_H
#define DELTASCOPE_DEVICE_H

/*
 * Publishes the steps of a model whose tensors lie on a CUDA device: as sparse deltas into a bucket, in the layouts
 * trl-v2 and slime-v2, with the bytes that `deltascope publish` writes from checkpoints. C, so that other languages
 * reach it; link libdeltascope_device.
 *
 *     DsDevicePublisher* publisher;
 *     DsError error;
 *     DsDeviceOptions options = { sizeof options };
 *     options.into = "s3://bucket/run";
 *     options.layout = "trl-v2";
 *     if (ds_device_open(&options, &publisher, &error)) ...
 *     for each step of the trainer:
 *         ds_device_publish(publisher, tensors, count, stream, "step-12", &error);
 *         ... the tensors may change; the step is put meanwhile ...
 *         ds_device_wait(publisher, &step, &error);
 *     ds_device_close(publisher);
 *
 * Functions return 0 and empty the error, or another number and fill it; what they put out is null or 0 then. Structs
 * begin with their own size, which the caller sets: later versions have more fields behind, and 0 means their default.
 * A publisher belongs to one thread at a time. Memory: the model once on the host, and once more on the device where
 * that is asked for, with a tenth of it or less for what changes; while a step is put, also what changed.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DS_DEVICE_API __attribute__((visibility("default")))
#else
#define DS_DEVICE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DsDevicePublisher DsDevicePublisher;

typedef struct DsError {
    char code[32]; /* "DS-NOSPACE", as in docs/cli.md */
    char text[1024];
    char where[512]; /* object, file or source; may be empty */
    char action[512]; /* what to do; may be empty */
} DsError;

typedef enum DsKeep {
    DS_KEEP_ON_DEVICE = 0, /* a copy of the model on the device: what changed comes down once the caller goes on */
    DS_KEEP_ON_HOST = 1 /* none: kernels compare with a pinned copy on the host, over the bus */
} DsKeep;

typedef struct DsDeviceOptions {
    size_t size;
    const char* into; /* address of the run: a folder, s3://..., hf://... */
    const char* layout; /* "trl-v2" or "slime-v2" */
    const char* base; /* address of the checkpoint that the run starts from, where the layout has none; else null */
    const char* encoding; /* "gap_delta", "raw"; "xor", "overwrite"; null: the first of them */
    const char* checksum; /* of slime-v2: "xxh3-128", "blake3", "adler32"; null: the first */
    /* File of the module for CUDA; null or empty: what DELTASCOPE_CUDA_MODULE names, else
     * deltascope/libdeltascope_cuda.so beside this library. */
    const char* module;
    int32_t device; /* its number in this process */
    int32_t keep; /* a DsKeep */
    uint32_t anchor_every; /* each n-th version is an anchor, where the layout has anchors; 0: each tenth */
    uint32_t threads; /* 0: as many as the machine has */
    int32_t new_epoch; /* not 0: begin again behind what is published, with an anchor */
    int32_t allow_suspect; /* not 0: publish NaN and other suspect values, too */
} DsDeviceOptions;

typedef struct DsDeviceTensor {
    const char* name;
    const char* dtype; /* as in safetensors: "BF16", "F32", "F8_E4M3" ... */
    const uint64_t* shape;
    uint32_t rank;
    uint64_t address; /* of its first element; contiguous, in row-major order */
} DsDeviceTensor;

typedef struct DsDeviceStep {
    size_t size;
    int64_t step; /* its number in the run; of what was there already, too */
    int32_t anchor; /* not 0: a complete state */
    int32_t put; /* 0: nothing changed and the layout has no form for that, or it was there already */
    uint64_t changed_elements;
    uint64_t total_elements;
    uint64_t bytes_down; /* that came from the device for what changed; the hashes of its copy, 16 bytes for each MiB of
                            the model, come beside them */
    uint64_t bytes_put;
    uint64_t blocked_us; /* how long ds_device_publish() took once the step before was put */
    char notice[1024]; /* what is worth knowing, one line each, also of steps before that were not put or not waited
                          for; may be empty */
    int32_t proven; /* not 0: the device has hashed its own copy of the step, and the step has the same root */
} DsDeviceStep;

/* Opens the device and the run, and takes the lease of the run, which nobody else then publishes into. Errors:
 * DS-UNSUPPORTED (no module, driver or device, or the module has no kernels for it), DS-USAGE, DS-BASE-MISSING (the
 * layout has no anchors, and no base is named), DS-EXISTS (somebody else publishes here), those of stores. */
DS_DEVICE_API int ds_device_open(const DsDeviceOptions* options, DsDevicePublisher** publisher, DsError* error);

/* Takes a step off the device, behind the work that `stream` (a CUstream; null: the default one) holds now. Waits
 * first for the step before it to be put. The tensors may change as soon as this returns. Errors: DS-USAGE (an address
 * that is no memory of the device, a dtype that is none), DS-BASE-MISMATCH (other tensors than before), DS-IO and
 * DS-NOSPACE (of the device); and once what the step before failed with, if ds_device_wait() was not called for it.
 * Then nothing of this step is taken, and the next one holds its changes. */
DS_DEVICE_API int ds_device_publish(DsDevicePublisher* publisher, const DsDeviceTensor* tensors, size_t count,
                                    void* stream, const char* origin, DsError* error);

/* Waits until the step that was taken last is put; a ds_device_publish() that failed took none. Errors:
 * DS-SUSPECT-VALUES, DS-DIGEST (what came down is not what the device has), DS-EXISTS, DS-IO and DS-NOSPACE of the
 * device, those of stores; the next step then holds its changes, too. `step` may be null. */
DS_DEVICE_API int ds_device_wait(DsDevicePublisher* publisher, DsDeviceStep* step, DsError* error);

/* Waits for what is being put, and gives the lease back; what became of it, only ds_device_wait() says. Null: nothing.
 */
DS_DEVICE_API void ds_device_close(DsDevicePublisher* publisher);

#ifdef __cplusplus
}
#endif

#endif
