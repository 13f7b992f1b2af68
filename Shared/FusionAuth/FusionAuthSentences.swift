/// What a person may be told, where the service or the carrier says nothing better. Apps with
/// another language choose by the code.
extension FusionAuthResultCode {
    package var sentence: String {
        Self.sentences.first { $0.0 == self }?.1 ?? name
    }

    private static let sentences: [(Self, String)] = [
        (.templateNotExist, "there is no such scene"),
        (.templateNotStart, "no such scene is running"),
        (.templateNotEnd, "another scene is still running"),
        (.authNextNodeFail, "no way is left to verify the phone"),
        (.authCurrentNodeNotComplete, "this step is not complete"),
        (.tokenIsVerifying, "the auth token is still being checked"),
        (.tokenInvalid, "the auth token is not valid"),
        (.tokenUpdateTimeout, "no auth token came in time"),
        (.tokenAnalyseFail, "this is not an auth token"),
        (.tokenVerifyFail, "the auth token could not be checked"),
        (.numberAuthInitFail, "one-click login is not possible on this phone"),
        (.numberAuthPresentFail, "the login page could not be shown"),
        (.numberAuthGetTokenFail, "one-click login failed"),
        (.numberAuthGetTokenEvent, "please accept the agreements first"),
        (.verifyCodeAutoNumberShowFail, "the phone number is not known"),
        (.verifyCodeShowFail, "the page could not be shown"),
        (.verifyCodeGetFail, "the code could not be sent"),
        (.verifyCodeFrequency, "too many codes were asked for, wait a little"),
        (.verifyCodeRisk, "no code can be sent to this number now"),
        (.verifyCodeVerifyPhoneGetTokenFail, "the code could not be taken"),
        (.verifyCodeGetTokenFail, "the code could not be taken"),
        (.verifyCodeAccuracyFail, "this is not the number of the account"),
        (.verifyCodeSendClickEvent, "please accept the agreements first"),
        (.upGoingInitFail, "verifying by an SMS of yours is not possible"),
        (.upGoingShowFail, "the page could not be shown"),
        (.upGoingSendFail, "the SMS could not be sent"),
        (.upGoingGetTokenFail, "the SMS could not be verified"),
        (.graphAuthServerVerifyFail, "the check failed, try again"),
        (.errorNoNetwork, "there is no network"),
        (.errorNetworkTimeout, "the network is too slow"),
        (.errorSDKInnerTimeout, "the service cannot answer now"),
        (.errorSchemeCodeEmpty, "the scheme code is missing"),
    ]
}
