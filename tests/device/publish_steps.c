/* A trainer in C: its tensors lie on a device, and deltascope/device.h publishes each of its steps.
 *
 * usage: publish_steps DRIVER INTO STEPS FOLDER KEEP
 *
 * DRIVER: libcuda.so.1, or a library with the same functions. FOLDER/step-N.TENSOR gets the bytes that a tensor held at
 * step N. KEEP: a DsKeep. Prints a line for each step that was put: N, its number in the run, 1 for an anchor, bytes
 * that came down. A step that is not put does not end it, as it would not end a trainer; the status is 1 then. */

#include "deltascope/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*Init)(unsigned flags);
typedef int (*DeviceGet)(int* device, int ordinal);
typedef int (*CtxRetain)(void** context, int device);
typedef int (*CtxPush)(void* context);
typedef int (*MemAlloc)(uint64_t* address, size_t bytes);
typedef int (*CopyUp)(uint64_t to, const void* from, size_t bytes);

enum { Tensors = 2 };

/* More than two of the parts that come down at a time. */
static const uint64_t embedShape[] = { 3000, 5000 };
static const uint64_t normShape[] = { 777 };
static const char* const files[Tensors] = { "embed", "norm" };

static void* loaded(void* library, const char* name)
{
    void* const function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(3);
    }
    return function;
}

static void expect(int status, const char* call)
{
    if (status != 0) {
        fprintf(stderr, "%s fails: %d\n", call, status);
        exit(3);
    }
}

static void report(const DsError* error) { fprintf(stderr, "%s: %s %s\n", error->code, error->text, error->where); }

/* bf16 values between 0.007 and 2. */
static void fill(unsigned char* bytes, size_t size)
{
    uint64_t random = 7;
    size_t at;
    for (at = 0; at < size; at += 2) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        bytes[at] = (unsigned char)(random >> 48);
        bytes[at + 1] = 0x3c + (unsigned char)(random >> 62);
    }
}

/* Changes one element of 101. */
static void train(unsigned char* bytes, size_t size, int step)
{
    size_t at;
    for (at = 2 * (size_t)step; at < size; at += 202)
        bytes[at] ^= (unsigned char)(1 + step % 7);
}

static void keep(const char* folder, int step, const char* name, const unsigned char* bytes, size_t size)
{
    char path[4096];
    FILE* file;
    snprintf(path, sizeof path, "%s/step-%d.%s", folder, step, name);
    file = fopen(path, "wb");
    expect(!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0, path);
}

int main(int count, char** arguments)
{
    const size_t sizes[Tensors] = { 3000 * 5000 * 2, 777 * 2 };
    unsigned char* host[Tensors];
    DsDeviceTensor tensors[Tensors] = { { "model.embed.weight", "BF16", embedShape, 2, 0 },
                                        { "model.norm.weight", "BF16", normShape, 1, 0 } };
    DsDeviceOptions options;
    DsDevicePublisher* publisher = NULL;
    DsDeviceStep done;
    DsError error;
    void* driver;
    void* context = NULL;
    CopyUp copyUp;
    int device = 0;
    int lost = 0;
    int step;
    int i;
    if (count != 6) {
        fprintf(stderr, "usage: publish_steps DRIVER INTO STEPS FOLDER KEEP\n");
        return 2;
    }
    driver = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    expect(((Init)loaded(driver, "cuInit"))(0), "cuInit");
    expect(((DeviceGet)loaded(driver, "cuDeviceGet"))(&device, 0), "cuDeviceGet");
    expect(((CtxRetain)loaded(driver, "cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
    expect(((CtxPush)loaded(driver, "cuCtxPushCurrent_v2"))(context), "cuCtxPushCurrent");
    copyUp = (CopyUp)loaded(driver, "cuMemcpyHtoD_v2");
    for (i = 0; i < Tensors; ++i) {
        host[i] = malloc(sizes[i]);
        fill(host[i], sizes[i]);
        expect(((MemAlloc)loaded(driver, "cuMemAlloc_v2"))(&tensors[i].address, sizes[i]), "cuMemAlloc");
    }
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.into = arguments[2];
    options.layout = "trl-v2";
    options.anchor_every = 4;
    options.keep = atoi(arguments[5]);
    if (ds_device_open(&options, &publisher, &error) != 0) {
        report(&error);
        return 1;
    }
    for (step = 1; step <= atoi(arguments[3]); ++step) {
        for (i = 0; i < Tensors; ++i) {
            train(host[i], sizes[i], step);
            expect(copyUp(tensors[i].address, host[i], sizes[i]), "cuMemcpyHtoD");
            keep(arguments[4], step, files[i], host[i], sizes[i]);
        }
        memset(&done, 0, sizeof done);
        done.size = sizeof done;
        if (ds_device_publish(publisher, tensors, Tensors, NULL, "a trainer in C", &error) != 0
            || ds_device_wait(publisher, &done, &error) != 0) {
            report(&error);
            lost = 1;
            continue;
        }
        printf("%d %lld %d %llu %llu\n", step, (long long)done.step, done.anchor, (unsigned long long)done.bytes_down,
               (unsigned long long)done.blocked_us);
        fflush(stdout);
    }
    ds_device_close(publisher);
    for (i = 0; i < Tensors; ++i)
        free(host[i]);
    return lost;
}
