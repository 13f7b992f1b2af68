/// An instant, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// On the wire and in configuration an instant is a bare integer whose name ends in
/// `AtMilliseconds`;
/// inside, it is this type, so that instants and durations never mix.
public struct WallTime: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    public init(from decoder: any Decoder) throws {
        millisecondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSince1970)
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// Sums saturate: an instant never wraps around.
    public static func + (instant: Self, span: Duration) -> Self {
        let (sum, overflow) = instant.millisecondsSince1970
            .addingReportingOverflow(span.wholeMilliseconds)
        return Self(millisecondsSince1970: overflow ? (span < .zero ? .min : .max) : sum)
    }

    public static func - (instant: Self, span: Duration) -> Self { instant + (.zero - span) }

    public static func - (later: Self, earlier: Self) -> Duration {
        .milliseconds(
            later.millisecondsSince1970.subtractingReportingOverflow(earlier.millisecondsSince1970)
                .partialValue)
    }

    public var description: String { "\(millisecondsSince1970) ms" }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; saturates at the bounds of `Int64`.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
    }
}
