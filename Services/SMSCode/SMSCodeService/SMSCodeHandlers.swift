package import Bus
import Messages

extension SMSCodeService {
    /// One line per message: the index of the service.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(SendCode.self, send)
        table.on(CheckCode.self, check)
        table.on(GetCodeStatus.self, status)
        table.on(CancelCode.self, cancel)
        table.on(GetSendDetails.self, details)
        table.on(GetSMSStatistics.self, statistics)
        table.on(OpenUpgoing.self, openUpgoing)
        table.on(CheckUpgoing.self, checkUpgoing)
        table.on(AttachGuess.self, attach)
        table.on(RedeemGuess.self, redeem)
        table.on(ReceiveSMS.self, receive)
        table.on(ReceiveReceipt.self, receiveReceipt)
        table.on(NotifyNumber.self, notify)
        return table
    }
}
