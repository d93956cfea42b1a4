/* A security key made of software, for tests: what OpenSSH loads by SSH_SK_PROVIDER (its PROTOCOL.u2f, sk-api.h).
 *
 * It makes Ed25519 keys alone, whose private half is the handle. SOFTWARE_KEY_FLAGS is what it says of the person:
 * 1 touched, 4 verified, 0 nobody there; SOFTWARE_KEY_COUNTER is its counter. libcrypto is the one that ssh-keygen
 * itself has loaded, so that no header of it is needed.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ED25519 1
#define ED25519_NID 1087
#define UNSUPPORTED -2
#define FAILED -1

struct sk_option;
struct sk_enroll_response {
    uint8_t flags;
    uint8_t *public_key;
    size_t public_key_len;
    uint8_t *key_handle;
    size_t key_handle_len;
    uint8_t *signature;
    size_t signature_len;
    uint8_t *attestation_cert;
    size_t attestation_cert_len;
    uint8_t *authdata;
    size_t authdata_len;
};
struct sk_sign_response {
    uint8_t flags;
    uint32_t counter;
    uint8_t *sig_r;
    size_t sig_r_len;
    uint8_t *sig_s;
    size_t sig_s_len;
};

static void *function(const char *name) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static void *private_key(const uint8_t *seed) {
    void *(*load)(int, void *, const unsigned char *, size_t) = function("EVP_PKEY_new_raw_private_key");
    return load ? load(ED25519_NID, NULL, seed, 32) : NULL;
}

static void digest(const void *data, size_t size, uint8_t *into) {
    unsigned char *(*sha256)(const unsigned char *, size_t, unsigned char *) = function("SHA256");
    sha256(data, size, into);
}

static unsigned long setting(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

uint32_t sk_api_version(void) { return 0x000a0000; }

int sk_enroll(uint32_t alg, const uint8_t *challenge, size_t challenge_len, const char *application, uint8_t flags,
              const char *pin, struct sk_option **options, struct sk_enroll_response **response) {
    int (*public_of)(const void *, unsigned char *, size_t *) = function("EVP_PKEY_get_raw_public_key");
    struct sk_enroll_response *made = calloc(1, sizeof(*made));
    if (alg != ED25519 || !public_of || !made)
        return UNSUPPORTED;
    made->flags = flags;
    made->key_handle = malloc(32);
    made->key_handle_len = made->public_key_len = 32;
    made->public_key = malloc(32);
    if (getrandom(made->key_handle, 32, 0) != 32)
        return FAILED;
    public_of(private_key(made->key_handle), made->public_key, &made->public_key_len);
    *response = made;
    return 0;
}

int sk_sign(uint32_t alg, const uint8_t *data, size_t data_len, const char *application, const uint8_t *key_handle,
            size_t key_handle_len, uint8_t flags, const char *pin, struct sk_option **options,
            struct sk_sign_response **response) {
    void *(*new_context)(void) = function("EVP_MD_CTX_new");
    int (*begin)(void *, void **, const void *, void *, void *) = function("EVP_DigestSignInit");
    int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t) = function("EVP_DigestSign");
    struct sk_sign_response *made = calloc(1, sizeof(*made));
    uint8_t signed_bytes[32 + 1 + 4 + 32];
    void *context;
    if (alg != ED25519 || key_handle_len != 32 || !made || !new_context)
        return UNSUPPORTED;
    made->flags = setting("SOFTWARE_KEY_FLAGS", 1);
    made->counter = setting("SOFTWARE_KEY_COUNTER", 7);
    digest(application, strlen(application), signed_bytes);
    signed_bytes[32] = made->flags;
    for (int byte = 0; byte < 4; byte++)
        signed_bytes[33 + byte] = made->counter >> (24 - 8 * byte);
    digest(data, data_len, signed_bytes + 37);
    made->sig_r = malloc(64);
    made->sig_r_len = 64;
    context = new_context();
    if (begin(context, NULL, NULL, NULL, private_key(key_handle)) != 1 ||
        sign(context, made->sig_r, &made->sig_r_len, signed_bytes, sizeof(signed_bytes)) != 1)
        return FAILED;
    *response = made;
    return 0;
}

int sk_load_resident_keys(const char *pin, struct sk_option **options, void ***keys, size_t *count) {
    return UNSUPPORTED;
}
