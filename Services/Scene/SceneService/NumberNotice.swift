import Bus
import Effects
import FoundationEssentials
import Messages
import Primitives
import Storage

/// The notice to the old number that it was replaced: written with the end of the run, sent after
/// it.
struct NumberNotice: Codable, Sendable {
    static let kind = "number_changed"

    let schemeCode: String
    let number: PhoneNumber
    let locale: String?

    func row(_ runId: RunID, _ sealer: any Sealer, at now: WallTime) -> OutboxRow {
        let id = "notice/\(runId)"
        let plain = (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? []
        return OutboxRow(id: id, kind: Self.kind, body: sealer.seal(plain, context: id), at: now)
    }

    init(schemeCode: String, number: PhoneNumber, locale: String?) {
        self.schemeCode = schemeCode
        self.number = number
        self.locale = locale
    }

    init?(_ row: OutboxRow, _ sealer: any Sealer) {
        guard let plain = sealer.open(row.body.bytes, context: row.id),
            let notice = try? JSONDecoder().decode(Self.self, from: Data(plain))
        else { return nil }
        self = notice
    }

    /// The row's id is the request key: a repeat sends nothing twice.
    static func perform(
        _ row: OutboxRow, on bus: any BusCaller, _ sealer: any Sealer
    ) async -> OutboxOutcome {
        guard let notice = Self(row, sealer) else { return .abandon(reason: "unreadable") }
        do throws(ServiceFailure) {
            _ = try await bus.call(
                NotifyNumber(
                    schemeCode: notice.schemeCode, number: notice.number, kind: .numberChanged,
                    locale: notice.locale),
                CallOptions(requestKey: row.id))
            return .done()
        } catch {
            guard SceneFailure.isPassing(error) else {
                return .abandon(reason: error.code.rawValue)
            }
            return .retry(
                after: error.retryAfterMilliseconds.map { .milliseconds($0) },
                note: error.code.rawValue)
        }
    }
}
