package import Bus
import Messages

extension SandboxService {
    /// One line per message: the index of the service.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(PutSIM.self, putSIM)
        table.on(FetchCarrierToken.self, carrierToken)
        table.on(ExchangeCarrierToken.self, exchange)
        table.on(SubmitSMS.self, submit)
        table.on(CheckProof.self, checkProof)
        table.on(ReadInbox.self, inbox)
        table.on(SendMobileOriginated.self, sendMobileOriginated)
        table.on(PutFault.self, putFault)
        table.on(MintAccessToken.self, mintAccessToken)
        table.on(GetAccessKeys.self, accessKeys)
        return table
    }
}
