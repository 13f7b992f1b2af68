package import Bus
import Messages

extension VerificationService {
    /// One line per message. `ping`, `info` and `stats` are added by the bus worker.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(VerifyMaskToken.self, verify)
        table.on(GetVerificationStatus.self, status)
        table.on(GetNumber.self, getNumber)
        table.on(MatchNumber.self, matchNumber)
        table.on(GetVerificationStatistics.self, statistics)
        table.on(OpenVerification.self, open)
        table.on(GetRunStatus.self, runStatus)
        return table
    }
}
