import HTTPTypes
import Primitives

/// One file of the page, part of the executable.
package struct PhonePageFile: Sendable {
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// The page's files by name, each with its tag: browsers ask again and hear that nothing changed.
struct PhonePageFiles: Sendable {
    static let page = "index.html"

    private struct Entry: Sendable {
        let bytes: [UInt8]
        let type: String
        let tag: String
    }

    private let entries: [String: Entry]

    init(_ files: [PhonePageFile]) {
        entries = Dictionary(
            files.map { file in
                let entry = Entry(
                    bytes: file.bytes, type: Self.type(of: file.name), tag: Self.tag(file.bytes))
                return (file.name, entry)
            }, uniquingKeysWith: { first, _ in first })
    }

    func page(_ request: HTTPRequest) -> HTTPResponse {
        guard let entry = entries[Self.page] else {
            return PhonePageHeaders.page(.text(404, "The phone page is not part of this build.\n"))
        }
        return PhonePageHeaders.page(answer(entry, request))
    }

    /// nil: there is no such file. The page itself has another path.
    func file(_ name: String, _ request: HTTPRequest) -> HTTPResponse? {
        guard name != Self.page, let entry = entries[name] else { return nil }
        return answer(entry, request)
    }

    private func answer(_ entry: Entry, _ request: HTTPRequest) -> HTTPResponse {
        let known = request.headers.values("if-none-match")
            .flatMap { $0.split(separator: ",").map { String($0).trimmedSpaces } }
        let isKnown = known.contains { $0 == entry.tag || $0 == "W/\(entry.tag)" || $0 == "*" }
        var response = HTTPResponse(
            status: isKnown ? 304 : 200,
            headers: [
                "ETag": entry.tag, "Cache-Control": "no-cache",
                "Cross-Origin-Resource-Policy": "same-origin",
            ],
            body: .bytes(isKnown ? [] : entry.bytes))
        if !isKnown { response.headers.set("Content-Type", entry.type) }
        return response
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    private static func type(of name: String) -> String {
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        return types[ending] ?? "application/octet-stream"
    }

    /// Tells versions of our own files apart (FNV-1a, 64 bits); nobody else makes them.
    private static func tag(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\"\(String(hash, radix: 16))\""
    }
}

/// What a browser may do with our answers.
enum PhonePageHeaders {
    /// Scripts, styles and calls from here alone; nothing inline, no frame around it, nothing sent
    /// elsewhere.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
        "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    static func page(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers.set("Content-Security-Policy", policy)
        response.headers.set("X-Frame-Options", "DENY")
        response.headers.set("Referrer-Policy", "no-referrer")
        response.headers.set("Cross-Origin-Opener-Policy", "same-origin")
        response.headers.set("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.set(
            "Permissions-Policy", "otp-credentials=(self), clipboard-write=(self)")
        if response.headers["cache-control"] == nil {
            response.headers.set("Cache-Control", "no-store")
        }
        return response
    }
}
