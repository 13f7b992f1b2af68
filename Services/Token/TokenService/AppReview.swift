import Messages

/// Judges the app that a scheme admits.
struct AppReview: Sendable {
    let app: AppIdentity

    private static let nameRule =
        "takes 1 to 128 letters, digits, dots, hyphens and underscores"

    var findings: [PolicyReview.Finding] {
        var findings: [PolicyReview.Finding] = []
        func find(_ field: String, _ text: String) {
            findings.append(PolicyReview.Finding(field: "app.\(field)", text: text))
        }
        if let bundleID = app.iosBundleId, !Self.isName(bundleID) {
            find("iosBundleId", "a bundle id " + Self.nameRule)
        }
        if let packageName = app.androidPackageName, !Self.isName(packageName) {
            find("androidPackageName", "a package name " + Self.nameRule)
        }
        if let sign = app.androidPackageSign, !Self.isSign(sign) {
            find(
                "androidPackageSign",
                "a package sign is the certificate's MD5, 32 hexadecimal digits")
        }
        if (app.androidPackageName == nil) != (app.androidPackageSign == nil) {
            find(
                app.androidPackageName == nil ? "androidPackageName" : "androidPackageSign",
                "an android app is its package name and its certificate together")
        }
        if let origin = app.webOrigin, !Self.isOrigin(origin) {
            find(
                "webOrigin",
                "a web origin is https://host or https://host:port in lower case, no path")
        }
        return findings
    }

    private static func isName(_ text: String) -> Bool {
        Text.matches(text, 1...128) {
            Text.isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
    }

    private static func isSign(_ text: String) -> Bool {
        Text.matches(text, 32...32) {
            Text.isDigit($0) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
        }
    }

    /// Plain http is for a browser on the developer's own machine only.
    private static func isOrigin(_ text: String) -> Bool {
        let scheme = text.hasPrefix("https://") ? "https://" : "http://"
        guard text.hasPrefix(scheme) else { return false }
        let parts = text.dropFirst(scheme.count)
            .split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first, Text.isHost(host),
            scheme == "https://" || host == "localhost"
        else { return false }
        guard parts.count == 2, let port = parts.last else { return true }
        // One origin has one text: no leading zero, no plus.
        return Text.matches(String(port), 1...5, Text.isDigit) && !port.hasPrefix("0")
            && (1...65_535).contains(Int(port) ?? 0)
    }
}
