import Messages
import Primitives
package import Storage

/// Tables of fusion-verification.
package enum VerificationTables: ServiceTables {
    package static var schemas: [TableSchema] {
        [verifications.schema, days.schema, AnswerRow.table.schema]
    }

    static let byID = "id"
    static let byStep = "step"

    static let verifications = Table<Verification>(
        "verification", key: \.key,
        indexes: [
            Index(byID, value: \.id.text, order: \.openedAt.millisecondsSince1970),
            Index(
                byStep, value: { $0.binding.map { stepName($0.runId, $0.step) } },
                order: \.openedAt.millisecondsSince1970),
        ],
        expiresAt: \.keptUntil)

    static func stepName(_ run: RunID, _ step: Int) -> String { "\(run.text)/\(step)" }

    static let byDay = "day"

    static let days = Table<DayCount>(
        "verification_day", key: \.key,
        indexes: [Index(byDay, value: \.day, order: \.order)],
        expiresAt: \.keptUntil)
}

/// How many evaluations of one kind a scheme had on one day, by result. It names no number and no
/// run.
struct DayCount: StoredRow, Equatable {
    static let keptFor = Duration.seconds(400 * 86_400)

    /// yyyyMMdd, UTC.
    let day: String
    let schemeCode: String
    let kind: EvidenceKind
    let keptUntil: WallTime
    private(set) var passed = 0
    private(set) var refused = 0
    private(set) var unknown = 0

    init(_ day: UTCDay, schemeCode: String, kind: EvidenceKind) {
        self.day = day.text
        self.schemeCode = schemeCode
        self.kind = kind
        keptUntil = day.start + Self.keptFor
    }

    var key: String { Self.key(day, schemeCode, kind) }

    static func key(_ day: String, _ schemeCode: String, _ kind: EvidenceKind) -> String {
        "\(day)/\(kind.rawValue)/\(schemeCode)"
    }

    /// Spreads the rows of one day over a total order, so that a reader of all schemes can page
    /// through them: FNV-1a of the key, without its sign bit.
    var order: Int64 {
        let hash = key.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return Int64(hash >> 1)
    }

    mutating func count(_ result: VerificationResult) {
        switch result {
        case .pass: passed += 1
        case .reject: refused += 1
        case .unknown: unknown += 1
        }
    }
}
