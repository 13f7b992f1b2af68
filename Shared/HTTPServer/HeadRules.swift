import HTTPTypes

/// The rules of RFC 9110 and RFC 9112 that decide where a message ends and what it asks for. A head
/// that breaks one is refused whole: nobody guesses what another program on the way understood.
enum HeadRules {
    struct Line {
        let method: [UInt8]
        let target: [UInt8]
        let version: [UInt8]
    }

    struct Field {
        let name: [UInt8]
        let value: [UInt8]
    }

    struct Verdict {
        let head: HTTPRequestHead
        let framing: Framing
    }

    enum Framing: Equatable {
        case refused
        /// A body of so many bytes; 0 for none.
        case counted(Int)
        case chunked
        /// `OPTIONS *` asks about the server as a whole (RFC 9110 §9.3.7).
        case serverOptions
    }

    private static let versions = [Array("HTTP/1.1".utf8), Array("HTTP/1.0".utf8)]

    static func judge(
        _ line: Line, _ fields: [Field], peerAddress: String, isSecure: Bool
    ) -> Verdict {
        guard let method = token(line.method), method != "CONNECT",
            versions.contains(line.version), let target = Target(line.target),
            var headers = headers(fields), target.isFit(for: method)
        else { return refused(peerAddress, isSecure) }
        let isOld = line.version == versions[1]
        let framing = framing(headers, isOld: isOld)
        let hosts = headers.values("host")
        let isHostGood = hosts.count == 1 || isOld && hosts.isEmpty
        if let authority = target.authority { headers.set("Host", authority) }
        let head = HTTPRequestHead(
            method: method, path: target.path, query: target.query, headers: headers,
            peerAddress: peerAddress, isSecure: isSecure)
        guard isHostGood, hosts.allSatisfy(Target.isAuthority), framing != .refused else {
            return Verdict(head: head, framing: .refused)
        }
        return Verdict(head: head, framing: target.isAsterisk ? .serverOptions : framing)
    }

    /// A head that cannot be told from its bytes.
    static func refused(_ peerAddress: String, _ isSecure: Bool) -> Verdict {
        Verdict(
            head: HTTPRequestHead(
                method: "GET", path: "/", peerAddress: peerAddress, isSecure: isSecure),
            framing: .refused)
    }

    // MARK: Fields

    private static func headers(_ fields: [Field]) -> HTTPHeaders? {
        var known: [HTTPHeaders.Field] = []
        known.reserveCapacity(fields.count)
        for field in fields {
            guard let name = token(field.name), let value = value(field.value) else { return nil }
            known.append(HTTPHeaders.Field(name: name, value: value))
        }
        return HTTPHeaders(known)
    }

    /// RFC 9110 §5.6.2; nil for anything else, so also for "name :".
    private static func token(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy(isTokenByte) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Visible characters, spaces and tabs, in UTF-8; without blanks at its ends (RFC 9110 §5.5).
    private static func value(_ bytes: [UInt8]) -> String? {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else { return nil }
        var rest = bytes[...]
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return String(validating: rest, as: UTF8.self)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
            UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    // MARK: Length

    /// Digits of the largest length that is read at all; a larger one has more than an exabyte.
    private static let lengthDigitsMax = 18

    /// RFC 9112 §6. Two lengths are refused even when they are equal, and any coding but `chunked`.
    private static func framing(_ headers: HTTPHeaders, isOld: Bool) -> Framing {
        let lengths = headers.values("content-length")
        let codings = headers.values("transfer-encoding")
        if !codings.isEmpty {
            let isChunked = codings.count == 1 && HTTPHeaders.isSame(codings[0], "chunked")
            return isChunked && lengths.isEmpty && !isOld ? .chunked : .refused
        }
        guard let text = lengths.first else { return .counted(0) }
        guard lengths.count == 1, (1...lengthDigitsMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int(text)
        else { return .refused }
        return .counted(count)
    }
}

/// What a request line asks for (RFC 9112 §3.2).
struct Target {
    let path: String
    let query: String?
    /// Of a target in absolute form: it counts instead of the Host field.
    let authority: String?
    let isAsterisk: Bool

    private static let schemes = ["http://", "https://"]

    /// nil for a target that is none: authority form, a fragment, bytes that are not visible ASCII.
    init?(_ bytes: [UInt8]) {
        guard bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) else {
            return nil
        }
        var text = Substring(decoding: bytes, as: UTF8.self)
        isAsterisk = text == "*"
        var authority: String?
        if !isAsterisk, !text.hasPrefix("/") {
            guard
                let scheme = Self.schemes.first(where: {
                    HTTPHeaders.isSame(String(text.prefix($0.utf8.count)), $0)
                })
            else { return nil }
            text = text.dropFirst(scheme.utf8.count)
            let name = text.prefix { $0 != "/" && $0 != "?" }
            guard !name.isEmpty, Self.isAuthority(String(name)) else { return nil }
            authority = String(name)
            text = text.dropFirst(name.count)
        }
        let path = text.utf8.prefix { $0 != UInt8(ascii: "?") }
        self.authority = authority
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
        query =
            path.endIndex == text.endIndex
            ? nil
            : String(decoding: text.utf8.suffix(from: path.endIndex).dropFirst(), as: UTF8.self)
    }

    func isFit(for method: String) -> Bool { !isAsterisk || method == "OPTIONS" }

    /// Host and port without user: what may stand in Host. Empty where a target has no authority.
    static func isAuthority(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0...0x20, 0x7f...0xff, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"),
                UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: ","), UInt8(ascii: "\""),
                UInt8(ascii: "<"), UInt8(ascii: ">"):
                false
            default: true
            }
        }
    }
}
