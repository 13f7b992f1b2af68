// #embed (C23 §6.10.4) keeps 150 kB of arrays out of the compiler's sight: a Swift array literal of that
// size takes minutes. The compiler notes each file as a dependency.

#include "CPages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../pages/index.html"
};
static const unsigned char design_css[] = {
#embed "../pages/design.css"
};
static const unsigned char phone_css[] = {
#embed "../pages/phone.css"
};
static const unsigned char app_server_js[] = {
#embed "../pages/app-server.js"
};
static const unsigned char codes_js[] = {
#embed "../pages/codes.js"
};
static const unsigned char fusion_auth_js[] = {
#embed "../pages/fusion-auth.js"
};
static const unsigned char look_js[] = {
#embed "../pages/look.js"
};
static const unsigned char main_js[] = {
#embed "../pages/main.js"
};
static const unsigned char panels_js[] = {
#embed "../pages/panels.js"
};
static const unsigned char parts_js[] = {
#embed "../pages/parts.js"
};
static const unsigned char phone_js[] = {
#embed "../pages/phone.js"
};
static const unsigned char qr_js[] = {
#embed "../pages/qr.js"
};
static const unsigned char scene_js[] = {
#embed "../pages/scene.js"
};
static const unsigned char screens_sms_js[] = {
#embed "../pages/screens-sms.js"
};
static const unsigned char screens_js[] = {
#embed "../pages/screens.js"
};
static const unsigned char settings_js[] = {
#embed "../pages/settings.js"
};
static const unsigned char texts_zh_js[] = {
#embed "../pages/texts-zh.js"
};
static const unsigned char texts_js[] = {
#embed "../pages/texts.js"
};
static const unsigned char icon_svg[] = {
#embed "../pages/icon.svg"
};

#define FILE_OF(name, bytes) {name, bytes, sizeof bytes}

static const cpages_file files[] = {
    FILE_OF("index.html", index_html),
    FILE_OF("design.css", design_css),
    FILE_OF("phone.css", phone_css),
    FILE_OF("app-server.js", app_server_js),
    FILE_OF("codes.js", codes_js),
    FILE_OF("fusion-auth.js", fusion_auth_js),
    FILE_OF("look.js", look_js),
    FILE_OF("main.js", main_js),
    FILE_OF("panels.js", panels_js),
    FILE_OF("parts.js", parts_js),
    FILE_OF("phone.js", phone_js),
    FILE_OF("qr.js", qr_js),
    FILE_OF("scene.js", scene_js),
    FILE_OF("screens-sms.js", screens_sms_js),
    FILE_OF("screens.js", screens_js),
    FILE_OF("settings.js", settings_js),
    FILE_OF("texts-zh.js", texts_zh_js),
    FILE_OF("texts.js", texts_js),
    FILE_OF("icon.svg", icon_svg),
};

size_t cpages_files_count(void) { return sizeof files / sizeof files[0]; }

cpages_file cpages_file_at(size_t index) { return files[index]; }
