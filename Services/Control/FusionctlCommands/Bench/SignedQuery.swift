import Effects
import HTTPTypes
import Primitives

/// The query of a signed call to the dypnsapi edge (RPC style, HMAC-SHA1), prepared once and filled for
/// every call: a load must not spend the machine that it measures.
struct SignedQuery: Sendable {
    /// Parameters that differ from call to call. Their values need no escape: letters, digits, `-._~`.
    struct Fresh: Sendable {
        let name: String
        let value: String
    }

    private static let version = "2017-05-25"

    private let authenticator: any MessageAuthenticator
    private let key: Secret<[UInt8]>
    /// Sorted by name; nil: given with each call.
    private let parameters: [(name: String, plain: [UInt8], signed: [UInt8])]
    private let freshNames: Set<String>

    /// - Parameters:
    ///   - fixed: the action's own parameters that stay.
    ///   - fresh: names of those that change, besides nonce and time.
    init(
        action: String, fixed: [(String, String)], fresh: [String], keyID: String,
        secret: Secret<String>, authenticator: any MessageAuthenticator
    ) {
        self.authenticator = authenticator
        key = Secret(Array((secret.reveal() + "&").utf8))
        let system = [
            ("AccessKeyId", keyID), ("Action", action), ("Format", "JSON"),
            ("SignatureMethod", "HMAC-SHA1"), ("SignatureVersion", "1.0"),
            ("Version", Self.version),
        ]
        freshNames = Set(fresh + ["SignatureNonce", "Timestamp"])
        let all = fixed + system + freshNames.map { ($0, "") }
        parameters = all.sorted { $0.0 < $1.0 }.map { name, value in
            let plain = PercentCoding.encode(name) + "=" + PercentCoding.encode(value)
            return (name, Array(plain.utf8), Array(PercentCoding.encode(plain).utf8))
        }
    }

    /// - Parameters:
    ///   - nonce: never the same twice under one key.
    ///   - timestamp: of `RPCTime`.
    /// - Returns: the whole query, signature last.
    func query(_ values: [Fresh], nonce: String, timestamp: RPCTime) -> String {
        var plain: [UInt8] = []
        var signed = Array("POST&%2F&".utf8)
        plain.reserveCapacity(512)
        signed.reserveCapacity(640)
        for (index, parameter) in parameters.enumerated() {
            if index > 0 {
                plain.append(UInt8(ascii: "&"))
                signed += "%26".utf8
            }
            plain += parameter.plain
            signed += parameter.signed
            guard freshNames.contains(parameter.name) else { continue }
            switch parameter.name {
            case "SignatureNonce":
                plain += nonce.utf8
                signed += nonce.utf8
            case "Timestamp":
                plain += timestamp.plain
                signed += timestamp.signed
            default:
                let value = values.first { $0.name == parameter.name }?.value ?? ""
                plain += value.utf8
                signed += value.utf8
            }
        }
        let signature = Base64.encode(authenticator.hmacSHA1(signed, key: key))
        return String(decoding: plain, as: UTF8.self) + "&Signature="
            + PercentCoding.encode(signature)
    }
}

/// `2026-01-01T00:00:00Z`, escaped once and twice.
struct RPCTime: Sendable {
    let plain: [UInt8]
    let signed: [UInt8]

    init(_ instant: WallTime) {
        let day = UTCDay(instant)
        let date = day.text
        let seconds = (instant.millisecondsSince1970 - day.start.millisecondsSince1970) / 1000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text =
            "\(date.prefix(4))-\(date.dropFirst(4).prefix(2))-\(date.suffix(2))T"
            + "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))Z"
        let once = PercentCoding.encode(text)
        plain = Array(once.utf8)
        signed = Array(PercentCoding.encode(once).utf8)
    }
}

/// With padding (RFC 4648 §4).
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).map { character -> Character in
            switch character {
            case "-": "+"
            case "_": "/"
            default: character
            }
        }
        let padding = (4 - text.count % 4) % 4
        return String(text) + String(repeating: "=", count: padding)
    }
}
