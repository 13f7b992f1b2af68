package import Effects
import Messages
import Primitives
import Storage

/// The risk windows of one service, as decisions read and write them. What is counted is named by a
/// keyed digest only.
package struct RiskLedger: Sendable {
    private let digest: any KeyedDigest

    package init(digest: any KeyedDigest) { self.digest = digest }

    /// What is counted.
    enum Subject {
        /// Entries into a device-risk node.
        case device(scheme: String, device: String)
        /// Guarded sends to a number.
        case number(scheme: String, number: PhoneNumber)
        /// Guarded sends asked for by a device.
        case deviceSends(scheme: String, device: String)
        /// Numbers typed that were not the account's.
        case mismatches(scheme: String, number: PhoneNumber)
        /// Scene starts by address, over all schemes.
        case starts(address: String)

        fileprivate var text: String {
            switch self {
            case .device(let scheme, let device): "device\0\(scheme)\0\(device)"
            case .number(let scheme, let number): "number\0\(scheme)\0\(number.e164)"
            case .deviceSends(let scheme, let device): "sends\0\(scheme)\0\(device)"
            case .mismatches(let scheme, let number): "mismatch\0\(scheme)\0\(number.e164)"
            case .starts(let address): "starts\0\(address)"
            }
        }
    }

    func take(
        _ subject: Subject, _ windows: [FrequencyWindow], at now: WallTime, _ rows: inout Rows
    ) -> RiskWindow.Verdict {
        var window = load(subject, &rows)
        let verdict = window.take(windows, at: now)
        rows.put(SceneTables.riskWindow, window)
        return verdict
    }

    func look(
        _ subject: Subject, _ windows: [FrequencyWindow], at now: WallTime, _ rows: inout Rows
    ) -> RiskWindow.Verdict {
        var window = load(subject, &rows)
        return window.look(windows, at: now)
    }

    func giveBack(_ subject: Subject, _ instant: WallTime, _ rows: inout Rows) {
        var window = load(subject, &rows)
        guard !window.instants.isEmpty else { return }
        window.giveBack(instant)
        rows.put(SceneTables.riskWindow, window)
    }

    /// The row under the current digest key, with what older keys still hold of the same subject.
    private func load(_ subject: Subject, _ rows: inout Rows) -> RiskWindow {
        let names = digest.digests(Array(subject.text.utf8)).map(\.text)
        var found: [RiskWindow] = []
        for name in names {
            if let row = rows.get(SceneTables.riskWindow, name) { found.append(row) }
        }
        guard let name = names.first else { preconditionFailure("a digest has a current key") }
        if found.count == 1, let row = found.first, row.key == name { return row }
        for row in found where row.key != name { rows.delete(SceneTables.riskWindow, row.key) }
        return RiskWindow(
            key: name, instants: found.flatMap(\.instants),
            seenAt: found.map(\.seenAt).max() ?? 0)
    }
}
