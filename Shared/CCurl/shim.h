#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// curl's setters and getters are variadic, which Swift does not call.
static inline CURLcode fusion_curl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}
static inline CURLcode fusion_curl_set_number(CURL *easy, CURLoption option, long number) {
    return curl_easy_setopt(easy, option, number);
}
static inline CURLcode fusion_curl_set_size(CURL *easy, CURLoption option, curl_off_t size) {
    return curl_easy_setopt(easy, option, size);
}
static inline CURLcode fusion_curl_set_pointer(CURL *easy, CURLoption option, const void *pointer) {
    return curl_easy_setopt(easy, option, pointer);
}
static inline CURLcode fusion_curl_set_headers(CURL *easy, struct curl_slist *headers) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}
static inline CURLcode fusion_curl_set_writer(CURL *easy, CURLoption option, curl_write_callback writer) {
    return curl_easy_setopt(easy, option, writer);
}
static inline long fusion_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
static inline void *fusion_curl_private(CURL *easy) {
    char *pointer = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer);
    return pointer;
}

static inline CURLMcode fusion_curl_limit(CURLM *multi, CURLMoption option, long number) {
    return curl_multi_setopt(multi, option, number);
}
static inline CURLMcode fusion_curl_on_socket(CURLM *multi, curl_socket_callback told, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, told);
}
static inline CURLMcode fusion_curl_on_timer(CURLM *multi, curl_multi_timer_callback told, void *context) {
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, told);
}

/// The next transfer that has ended, and how; NULL when there is none.
static inline CURL *fusion_curl_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
