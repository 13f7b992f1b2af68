/// What an event means. Each code may bring a second callback with it, besides `onAuthEvent`.
///
/// The number alone does not always tell: 110005 is the end of a template as well as the local check
/// of a graphic node. `init(value:at:)` tells them apart by the node.
public struct FusionAuthResultCode: Hashable, Sendable {
    /// The callback that goes with an event.
    public enum Companion: Hashable, Sendable {
        case verifySuccess, verifyFailed, templateFinish, tokenAuthFailure
    }

    public let value: Int
    /// As the original names it, without its prefix: `VerifyCodeGetSuccess`.
    public let name: String
    public let companion: Companion?

    init(_ value: Int, _ name: String, _ companion: Companion? = nil) {
        self.value = value
        self.name = name
        self.companion = companion
    }

    /// A code as it arrived. A number from a newer server is kept under the name `Unknown`.
    /// - Parameter nodeName: the node it is about, where there is one.
    public init(value: Int, at nodeName: FusionAuthNodeName? = nil) {
        if value == Self.templateEndSuccess.value {
            self = nodeName == .graphAuth ? .graphAuthLocalVerifySuccess : .templateEndSuccess
            return
        }
        self = Self.all.first { $0.value == value } ?? Self(value, "Unknown")
    }

    public var isKnown: Bool { name != "Unknown" }
}

// MARK: - Templates, nodes, tokens

extension FusionAuthResultCode {
    public static let templateNotExist = Self(100_001, "TemplateNotExist")
    public static let templateNotStart = Self(100_002, "TemplateNotStart")
    public static let templateNotEnd = Self(100_003, "TemplateNotEnd")
    public static let templateEnd = Self(100_004, "TemplateEnd", .templateFinish)
    /// Only the Android original knows it.
    public static let sceneIsExist = Self(100_005, "SceneIsExist")
    /// The original's table has no companion here, yet its guide finishes a template with it.
    public static let templateEndSuccess = Self(110_005, "TemplateEndSuccess", .templateFinish)
    public static let authNextNodeFail = Self(200_001, "AuthNextNodeFail", .templateFinish)
    public static let authNextNodeSuccess = Self(200_002, "AuthNextNodeSuccess")
    public static let authCurrentNodeNotComplete = Self(200_003, "AuthCurrentNodeNotComplete")
    public static let tokenIsVerifying = Self(300_001, "TokenIsVerifying")
    public static let tokenValid = Self(300_002, "TokenValid")
    public static let tokenInvalid = Self(300_003, "TokenInvalid", .tokenAuthFailure)
    public static let tokenUpdateTimeout = Self(300_004, "TokenUpdateTimeout", .tokenAuthFailure)
    public static let tokenAnalyseFail = Self(300_005, "TokenAnalyseFail", .tokenAuthFailure)
    public static let tokenVerifyFail = Self(300_006, "TokenVerifyFail", .tokenAuthFailure)
}

// MARK: - Number authentication

extension FusionAuthResultCode {
    public static let numberAuthInitSuccess = Self(400_001, "NumberAuthInitSuccess")
    public static let numberAuthInitFail = Self(400_002, "NumberAuthInitFail", .verifyFailed)
    public static let numberAuthPresentSuccess = Self(400_003, "NumberAuthPresentSuccess")
    public static let numberAuthPresentFail = Self(400_004, "NumberAuthPresentFail", .verifyFailed)
    /// A template finish too, when the person went back.
    public static let numberAuthDismiss = Self(400_005, "NumberAuthDisMiss")
    public static let numberAuthGetTokenSuccess = Self(
        400_006, "NumberAuthGetTokenSuccess", .verifySuccess)
    public static let numberAuthGetTokenFail = Self(
        400_007, "NumberAuthGetTokenFail", .verifyFailed)
    /// A click on the page; the inner code says on what.
    public static let numberAuthGetTokenEvent = Self(410_008, "NumberAuthGetTokenEvent")
    /// The same event under the number that the documents and the Android original give it.
    public static let numberAuthGetTokenEventAndroid = Self(400_008, "NumberAuthGetTokenEvent")
    public static let numberAuthOtherPhoneLoginClickEvent = Self(
        410_009, "NumberAuthOtherPhoneLoginClickEvent")
    public static let numberAuthBackButtonClickEvent = Self(
        410_010, "NumberAuthBackBtnClickEvent")
    public static let numberAuthProtocolClickEvent = Self(410_011, "NumberAuthProtocolClickEvent")
    public static let numberAuthAlertProtocolClickEvent = Self(
        410_012, "NumberAuthAlertProtocolClickEvent")
}

// MARK: - SMS code

extension FusionAuthResultCode {
    public static let verifyCodeInitSuccess = Self(500_001, "VerifyCodeInitSuccess")
    public static let verifyCodeInitFail = Self(500_002, "VerifyCodeInitFail", .verifyFailed)
    public static let verifyCodeVerifyGetPhoneNumber = Self(
        500_003, "VerifyCodeVerifyGetPhoneNum")
    public static let verifyCodeAutoNumberShowFail = Self(
        500_004, "VerifyCodeAutoNumberShowFail", .verifyFailed)
    public static let verifyCodeShowSuccess = Self(500_005, "VerifyCodeShowSuccess")
    public static let verifyCodeShowFail = Self(500_006, "VerifyCodeShowFail", .verifyFailed)
    public static let verifyCodeGetSuccess = Self(500_007, "VerifyCodeGetSuccess")
    public static let verifyCodeGetFail = Self(500_008, "VerifyCodeGetFail", .verifyFailed)
    public static let verifyCodeFrequency = Self(500_009, "VerifyCodeFrequency", .verifyFailed)
    public static let verifyCodeRisk = Self(500_010, "VerifyCodeRisk", .verifyFailed)
    public static let verifyCodeVerifyPhoneGetTokenSuccess = Self(
        500_011, "VerifyCodeVerifyPhoneGetTokenSuccess", .verifySuccess)
    public static let verifyCodeVerifyPhoneGetTokenFail = Self(
        500_012, "VerifyCodeVerifyPhoneGetTokenFail", .verifyFailed)
    public static let verifyCodeGetTokenSuccess = Self(
        500_013, "VerifyCodeGetTokenSuccess", .verifySuccess)
    public static let verifyCodeGetTokenFail = Self(
        500_014, "VerifyCodeGetTokenFail", .verifyFailed)
    public static let verifyCodeAccuracyFail = Self(
        500_015, "VerifyCodeAccuracyFail", .verifyFailed)
    /// A template finish too, when the person went back.
    public static let verifyCodeDismiss = Self(510_001, "VerifyCodeDisMiss")
    public static let verifyCodeSendClickEvent = Self(510_002, "VerifyCodeSendClickEvent")
    public static let verifyCodeSubmitClickEvent = Self(510_003, "VerifyCodeSubmitClickEvent")
    public static let verifyCodeBackClickEvent = Self(510_004, "VerifyCodeBackClickEvent")
    public static let verifyCodeCheckBoxClickEvent = Self(510_005, "VerifyCodeCheckBoxClickEvent")
    public static let verifyCodeProtocolClickEvent = Self(510_006, "VerifyCodeProtocolClickEvent")
}

// MARK: - Up-going SMS

extension FusionAuthResultCode {
    public static let upGoingInitSuccess = Self(600_001, "UpGoingInitSuccess")
    public static let upGoingInitFail = Self(600_002, "UpGoingInitFail", .verifyFailed)
    public static let upGoingShowSuccess = Self(600_003, "UpGoingShowSuccess")
    public static let upGoingShowFail = Self(600_004, "UpGoingShowFail", .verifyFailed)
    public static let upGoingSendSuccess = Self(600_005, "UpGoingSendSuccess")
    public static let upGoingSendFail = Self(600_006, "UpGoingSendFail", .verifyFailed)
    public static let upGoingGetTokenSuccess = Self(
        600_007, "UpGoingGetTokenSuccess", .verifySuccess)
    public static let upGoingGetTokenFail = Self(600_008, "UpGoingGetTokenFail", .verifyFailed)
    /// A template finish too, when the person went back.
    public static let upGoingDismiss = Self(610_001, "UpGoingDisMiss")
    public static let upGoingSendClickEvent = Self(610_002, "UpGoingSendClickEvent")
    public static let upGoingAlreadySendClickEvent = Self(610_003, "UpGoingAlreadySendClickEvent")
    public static let upGoingBackClickEvent = Self(610_004, "UpGoingBackClickEvent")
}

// MARK: - Graphic, device, network, inside

extension FusionAuthResultCode {
    public static let graphAuthInitSuccess = Self(110_001, "GraphAuthInitSuccess")
    public static let graphAuthInitFail = Self(110_002, "GraphAuthInitFail", .verifyFailed)
    public static let graphAuthShowSuccess = Self(110_003, "GraphAuthShowSuccess")
    public static let graphAuthShowFail = Self(110_004, "GraphAuthShowFail", .verifyFailed)
    /// The same number as `templateEndSuccess`, at a graphic node.
    public static let graphAuthLocalVerifySuccess = Self(110_005, "GraphAuthLocalVerifySuccess")
    public static let graphAuthLocalVerifyFail = Self(110_006, "GraphAuthLocalVerifyFail")
    public static let graphAuthServerVerifySuccess = Self(110_007, "GraphAuthServerVerifySuccess")
    public static let graphAuthServerVerifyFail = Self(
        110_008, "GraphAuthServerVerifyFail", .verifyFailed)
    /// A template finish too, when the person went back.
    public static let graphAuthDismiss = Self(110_009, "GraphAuthDisMiss")
    public static let graphAuthBackClickEvent = Self(110_010, "GraphAuthBackClickEvent")
    public static let graphAuthBackErrorEvent = Self(110_011, "GraphAuthBackErrorEvent")

    public static let deviceSecurityDetectionSafe = Self(700_001, "DeviceSecurityDetectionSafe")
    public static let deviceSecurityDetectionFrequency = Self(
        700_002, "DeviceSecurityDetectionFrequency")
    public static let deviceSecurityDetectionRisk = Self(700_003, "DeviceSecurityDetectionRisk")
    public static let deviceSecurityDetectionGetFail = Self(
        700_004, "DeviceSecurityDetectionGetFail")

    public static let errorNoNetwork = Self(800_001, "ErrorNoNetwork")
    public static let errorNetworkTimeout = Self(800_002, "ErrorNetworkTimeout")
    public static let networkConnected = Self(800_003, "NetworkConnected")

    /// The other side stayed unable to answer for as long as the SDK asks.
    public static let errorSDKInnerTimeout = Self(900_001, "ErrorSDKInnerTimeout")
    public static let errorSchemeCodeEmpty = Self(
        900_002, "ErrorSchemeCodeEmpty", .tokenAuthFailure)
    public static let startLoading = Self(900_003, "StartLoading")
    public static let endLoading = Self(900_004, "EndLoading")
}

extension FusionAuthResultCode {
    /// Every code, in order of the value.
    public static let all: [Self] = [
        .templateNotExist, .templateNotStart, .templateNotEnd, .templateEnd, .sceneIsExist,
        .graphAuthInitSuccess, .graphAuthInitFail, .graphAuthShowSuccess, .graphAuthShowFail,
        .templateEndSuccess, .graphAuthLocalVerifySuccess, .graphAuthLocalVerifyFail,
        .graphAuthServerVerifySuccess, .graphAuthServerVerifyFail, .graphAuthDismiss,
        .graphAuthBackClickEvent, .graphAuthBackErrorEvent,
        .authNextNodeFail, .authNextNodeSuccess, .authCurrentNodeNotComplete,
        .tokenIsVerifying, .tokenValid, .tokenInvalid, .tokenUpdateTimeout, .tokenAnalyseFail,
        .tokenVerifyFail,
        .numberAuthInitSuccess, .numberAuthInitFail, .numberAuthPresentSuccess,
        .numberAuthPresentFail, .numberAuthDismiss, .numberAuthGetTokenSuccess,
        .numberAuthGetTokenFail, .numberAuthGetTokenEventAndroid, .numberAuthGetTokenEvent,
        .numberAuthOtherPhoneLoginClickEvent, .numberAuthBackButtonClickEvent,
        .numberAuthProtocolClickEvent, .numberAuthAlertProtocolClickEvent,
        .verifyCodeInitSuccess, .verifyCodeInitFail, .verifyCodeVerifyGetPhoneNumber,
        .verifyCodeAutoNumberShowFail, .verifyCodeShowSuccess, .verifyCodeShowFail,
        .verifyCodeGetSuccess, .verifyCodeGetFail, .verifyCodeFrequency, .verifyCodeRisk,
        .verifyCodeVerifyPhoneGetTokenSuccess, .verifyCodeVerifyPhoneGetTokenFail,
        .verifyCodeGetTokenSuccess, .verifyCodeGetTokenFail, .verifyCodeAccuracyFail,
        .verifyCodeDismiss, .verifyCodeSendClickEvent, .verifyCodeSubmitClickEvent,
        .verifyCodeBackClickEvent, .verifyCodeCheckBoxClickEvent, .verifyCodeProtocolClickEvent,
        .upGoingInitSuccess, .upGoingInitFail, .upGoingShowSuccess, .upGoingShowFail,
        .upGoingSendSuccess, .upGoingSendFail, .upGoingGetTokenSuccess, .upGoingGetTokenFail,
        .upGoingDismiss, .upGoingSendClickEvent, .upGoingAlreadySendClickEvent,
        .upGoingBackClickEvent,
        .deviceSecurityDetectionSafe, .deviceSecurityDetectionFrequency,
        .deviceSecurityDetectionRisk, .deviceSecurityDetectionGetFail,
        .errorNoNetwork, .errorNetworkTimeout, .networkConnected,
        .errorSDKInnerTimeout, .errorSchemeCodeEmpty, .startLoading, .endLoading,
    ]
}
