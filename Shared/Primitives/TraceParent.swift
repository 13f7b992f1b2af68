/// A place in a trace (W3C Trace Context, version 00): `00-<trace id>-<span id>-<flags>`.
public struct TraceParent: Hashable, Sendable {
    /// Sixteen bytes.
    public let traceID: [UInt8]
    /// Eight bytes.
    public let spanID: [UInt8]
    public let isSampled: Bool

    public init(traceID: [UInt8], spanID: [UInt8], isSampled: Bool = true) {
        precondition(traceID.count == 16 && spanID.count == 8, "ids have their fixed lengths")
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// nil for another version or form, or an id of zeros; such a header is ignored (§4.3).
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "00", parts[3].utf8.count == 2,
            let trace = Hex.decode(String(parts[1])), trace.count == 16,
            let span = Hex.decode(String(parts[2])), span.count == 8,
            let flags = Hex.decode(String(parts[3])),
            trace.contains(where: { $0 != 0 }), span.contains(where: { $0 != 0 })
        else { return nil }
        self.init(traceID: trace, spanID: span, isSampled: (flags.first ?? 0) & 1 == 1)
    }

    public var text: String {
        "00-\(Hex.encode(traceID))-\(Hex.encode(spanID))-\(isSampled ? "01" : "00")"
    }
}
