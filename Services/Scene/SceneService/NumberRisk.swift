import Messages
import Primitives
import Storage

/// Number risk: the guard of an SMS node, judged at every `{send}` there.
extension SceneDesk {
    /// Why a code is not sent.
    struct SendRefusal {
        let resultCode: Int
        let reason: String
        var retryAt: WallTime?
    }

    /// Windows of at least this length bound what one device may ask for, over all numbers.
    private static let deviceWindowSecondsMin: Int64 = 3_600

    /// Judges a send and, unless it is refused, counts it. nil: it may go.
    mutating func refusesSend(
        to number: PhoneNumber, at node: SceneNode, _ rows: inout Rows
    ) -> SendRefusal? {
        guard run.hasSendsLeft else {
            return SendRefusal(resultCode: SMSCodeNode.Code.frequency, reason: "run_limit")
        }
        if let old = run.numbers.old, node.excludesOld, number == old {
            return SendRefusal(resultCode: SMSCodeNode.Code.notSent, reason: "number_unchanged")
        }
        let windows = map.guardNode(of: node.nodeId)?.settings?.windows
        if node.checksNumber, let bound = run.numbers.bound {
            let refusal = checkTyped(number, against: bound, windows, &rows)
            if number != bound || refusal != nil { return refusal }
        }
        guard let windows else { return nil }
        let long = windows.filter { $0.seconds >= Self.deviceWindowSecondsMin }
        // Both are looked at before either counts, so that a refusal counts nowhere.
        if let device = run.numbers.device {
            let verdict = tools.ledger.look(sends(device), long, at: now, &rows)
            if let refusal = refusal(verdict, "device_frequency") { return refusal }
        }
        let verdict = tools.ledger.take(of(number), windows, at: now, &rows)
        if let refusal = refusal(verdict, "number_frequency") { return refusal }
        if let device = run.numbers.device {
            _ = tools.ledger.take(sends(device), long, at: now, &rows)
        }
        return nil
    }

    /// The callee refused: nothing was sent, so nothing counts.
    mutating func giveBackSend(
        to number: PhoneNumber, _ countedAt: WallTime, at node: SceneNode, _ rows: inout Rows
    ) {
        guard map.guardNode(of: node.nodeId) != nil else { return }
        tools.ledger.giveBack(of(number), countedAt, &rows)
        if let device = run.numbers.device {
            tools.ledger.giveBack(sends(device), countedAt, &rows)
        }
    }

    /// A typed number that is not the account's costs an attempt of that number, and one of those
    /// with which the account's number could be found out by trying; these bound everybody, or the
    /// answer itself would tell.
    private func checkTyped(
        _ number: PhoneNumber, against bound: PhoneNumber, _ windows: [FrequencyWindow]?,
        _ rows: inout Rows
    ) -> SendRefusal? {
        let mismatch = SendRefusal(
            resultCode: SMSCodeNode.Code.notTheAccounts, reason: "number_mismatch")
        guard let windows else { return number == bound ? nil : mismatch }
        let long = windows.filter { $0.seconds >= Self.deviceWindowSecondsMin }
        let tries = RiskLedger.Subject.mismatches(scheme: facts.schemeCode, number: bound)
        let triesLeft = tools.ledger.look(tries, long, at: now, &rows)
        if let refusal = refusal(triesLeft, "number_frequency") { return refusal }
        guard number != bound else { return nil }
        let verdict = tools.ledger.take(of(number), windows, at: now, &rows)
        if let refusal = refusal(verdict, "number_frequency") { return refusal }
        _ = tools.ledger.take(tries, long, at: now, &rows)
        return mismatch
    }

    private func of(_ number: PhoneNumber) -> RiskLedger.Subject {
        .number(scheme: facts.schemeCode, number: number)
    }

    private func sends(_ device: String) -> RiskLedger.Subject {
        .deviceSends(scheme: facts.schemeCode, device: device)
    }

    private func refusal(_ verdict: RiskWindow.Verdict, _ reason: String) -> SendRefusal? {
        guard case .full(_, let wait) = verdict else { return nil }
        return SendRefusal(
            resultCode: SMSCodeNode.Code.frequency, reason: reason,
            retryAt: wait.map { now + .milliseconds($0) })
    }
}
