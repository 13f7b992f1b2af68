import Messages

/// The wordings that exist from the start. Each tells what the code is for and how long it lives, asks
/// for nothing, and stays under 140 bytes with a signature and an app hash.
enum StandardWordings {
    /// The template of texts without a scene.
    static let api = "api"

    static func body(_ templateID: String, isChinese: Bool) -> String? {
        guard let use = use(templateID) else { return nil }
        return isChinese
            ? "验证码${code}，用于\(use.chinese)，${min}分钟内有效，请勿告诉他人。"
            : "${code} is your code to \(use.english), valid for ${min} min. Never share it."
    }

    static func notice(_ kind: NoticeKind, isChinese: Bool) -> String {
        switch kind {
        case .numberChanged:
            isChinese
                ? "您账号绑定的手机号已更换。如非本人操作，请立即联系客服。"
                : "The phone number of your account was changed. "
                    + "If this was not you, contact support at once."
        }
    }

    private static func use(_ templateID: String) -> (english: String, chinese: String)? {
        switch templateID {
        case "100001": ("sign in", "登录或注册")
        case "100002": ("change your number", "更换手机号")
        case "100003": ("reset your password", "重置密码")
        case "100004": ("bind this number", "绑定手机号")
        case "100005": ("confirm your number", "验证手机号")
        case api: ("verify your number", "身份验证")
        default: nil
        }
    }
}
