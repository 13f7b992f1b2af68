/// Every request of the schema, once, in the order of the design. Contract tests, `fusionctl schema` and
/// `fusionctl call` read it.
public enum MessageCatalog {
    public static let requests: [any BusRequest.Type] = [
        IssueAuthToken.self, IntrospectAuthToken.self, RevokeAuthToken.self, GetSigningKeys.self,
        RotateSigningKey.self,
        CreateScheme.self, GetScheme.self, ListSchemes.self, UpdateScheme.self, DisableScheme.self,
        CreateAccessKey.self, ListAccessKeys.self, RevokeAccessKey.self, CreateTemporaryKey.self,
        AuthenticateKey.self, ConsumeToken.self,
        VerifyMaskToken.self, GetVerificationStatus.self, GetNumber.self, MatchNumber.self,
        GetVerificationStatistics.self,
        OpenVerification.self, GetRunStatus.self,
        SendCode.self, CheckCode.self, GetCodeStatus.self, CancelCode.self, GetSendDetails.self,
        GetSMSStatistics.self,
        OpenUpgoing.self, CheckUpgoing.self,
        AttachGuess.self, RedeemGuess.self, ReceiveSMS.self, ReceiveReceipt.self,
        NotifyNumber.self,
        ListTemplates.self, StartScene.self, SubmitInput.self, ContinueScene.self,
        AnswerHalfway.self, StopScene.self, GetScene.self,
        PutSIM.self, FetchCarrierToken.self, ExchangeCarrierToken.self, SubmitSMS.self,
        CheckProof.self, ReadInbox.self, SendMobileOriginated.self, PutFault.self,
        MintAccessToken.self, GetAccessKeys.self,
        EchoText.self,
    ]

    public static var methods: [Method] { requests.map { $0.method } }
}
