/// The extension text of READY (`credit=64 hb=250 principal=yes instance=… version=… retry=safe`)
/// and of HEARTBEAT (`credit=N`). Unknown keys are ignored, so either side may be newer.
package struct WorkerCapabilities: Hashable, Sendable {
    package static let creditMax = 1024
    package static let heartbeatMillisecondsMin = 50
    package static let heartbeatMillisecondsMax = 60_000
    private static let wordBytesMax = 128

    /// nil for a plain worker: one request at a time, no header.
    package var credit: Int?
    package var heartbeatMilliseconds = 250
    package var wantsPrincipal = false
    package var instanceID = ""
    package var version = ""
    /// Plain workers are idempotent by assumption of RFC 7.
    package var isRetrySafe = true

    package init() {}

    package init(
        credit: Int, heartbeatMilliseconds: Int, wantsPrincipal: Bool, instanceID: String,
        version: String, isRetrySafe: Bool
    ) {
        self.credit = credit
        self.heartbeatMilliseconds = heartbeatMilliseconds
        self.wantsPrincipal = wantsPrincipal
        self.instanceID = instanceID
        self.version = version
        self.isRetrySafe = isRetrySafe
    }

    package init(_ text: UnsafeRawBufferPointer) {
        guard text.count <= Wire.extensionBytesMax else { return }
        for word in text.split(separator: UInt8(ascii: " ")) {
            guard let equals = word.firstIndex(of: UInt8(ascii: "=")),
                word.count <= Self.wordBytesMax,
                word.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
            else { continue }
            let key = String(decoding: word[..<equals], as: UTF8.self)
            let value = String(decoding: word[word.index(after: equals)...], as: UTF8.self)
            read(key, value)
        }
    }

    private mutating func read(_ key: String, _ value: String) {
        switch key {
        case "credit":
            if let number = Int(value), number >= 0 { credit = min(number, Self.creditMax) }
        case "hb":
            if let number = Int(value) {
                heartbeatMilliseconds = min(
                    max(number, Self.heartbeatMillisecondsMin), Self.heartbeatMillisecondsMax)
            }
        case "principal": wantsPrincipal = value == "yes"
        case "instance": instanceID = value
        case "version": version = value
        case "retry": isRetrySafe = value == "safe"
        default: break
        }
    }

    package var text: String {
        "credit=\(credit ?? 1) hb=\(heartbeatMilliseconds)"
            + " principal=\(wantsPrincipal ? "yes" : "no") instance=\(instanceID)"
            + " version=\(version) retry=\(isRetrySafe ? "safe" : "never")"
    }

    /// What a broker grants, and what a worker sends to set its window anew.
    package static func window(credit: Int, heartbeatMilliseconds: Int) -> String {
        "credit=\(credit) hb=\(heartbeatMilliseconds)"
    }
}
