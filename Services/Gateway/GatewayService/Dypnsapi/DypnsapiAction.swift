/// The index of this surface. Every other action of the original is `InvalidApi.NotFound`.
enum DypnsapiAction: String, Sendable, CaseIterable {
    // Fusion authentication
    case getFusionAuthToken = "GetFusionAuthToken"
    case verifyWithFusionAuthToken = "VerifyWithFusionAuthToken"
    case sendSmsVerifyCode = "SendSmsVerifyCode"
    case checkSmsVerifyCode = "CheckSmsVerifyCode"
    case querySendDetails = "QuerySendDetails"
    // Number authentication
    case getMobile = "GetMobile"
    case verifyMobile = "VerifyMobile"
    case getAuthToken = "GetAuthToken"
    case getPhoneWithToken = "GetPhoneWithToken"
    case verifyPhoneWithToken = "VerifyPhoneWithToken"
    // Schemes
    case createSchemeConfig = "CreateSchemeConfig"
    case createVerifyScheme = "CreateVerifyScheme"
    case deleteVerifyScheme = "DeleteVerifyScheme"
    case describeVerifyScheme = "DescribeVerifyScheme"

    var isPostOnly: Bool { self == .getMobile || self == .verifyMobile }

    /// Those that only one platform has are asked for by the action itself.
    var required: [String] {
        switch self {
        case .getFusionAuthToken: ["SchemeCode", "Platform", "DurationSeconds"]
        case .verifyWithFusionAuthToken: ["VerifyToken"]
        case .sendSmsVerifyCode: ["PhoneNumber", "SignName", "TemplateCode", "TemplateParam"]
        case .checkSmsVerifyCode: ["PhoneNumber", "VerifyCode"]
        case .querySendDetails: ["PhoneNumber", "SendDate", "PageSize", "CurrentPage"]
        case .getMobile: ["AccessToken"]
        case .verifyMobile: ["AccessCode", "PhoneNumber"]
        case .getAuthToken: ["Url", "Origin"]
        case .getPhoneWithToken: ["SpToken"]
        case .verifyPhoneWithToken: ["PhoneNumber", "SpToken"]
        case .createSchemeConfig: ["SchemeName", "Platform"]
        case .createVerifyScheme: ["SchemeName", "AppName", "OsType"]
        case .deleteVerifyScheme, .describeVerifyScheme: ["SchemeCode"]
        }
    }

    func run(_ call: DypnsapiCall) async throws(DypnsapiError) -> DypnsapiAnswer {
        switch self {
        case .getFusionAuthToken: try await call.getFusionAuthToken()
        case .verifyWithFusionAuthToken: try await call.verifyWithFusionAuthToken()
        case .sendSmsVerifyCode: try await call.sendSmsVerifyCode()
        case .checkSmsVerifyCode: try await call.checkSmsVerifyCode()
        case .querySendDetails: try await call.querySendDetails()
        case .getMobile: try await call.getMobile()
        case .verifyMobile: try await call.verifyMobile()
        case .getAuthToken: try await call.getAuthToken()
        case .getPhoneWithToken: try await call.getPhoneWithToken()
        case .verifyPhoneWithToken: try await call.verifyPhoneWithToken()
        case .createSchemeConfig: try await call.createSchemeConfig()
        case .createVerifyScheme: try await call.createVerifyScheme()
        case .deleteVerifyScheme: try await call.deleteVerifyScheme()
        case .describeVerifyScheme: try await call.describeVerifyScheme()
        }
    }
}
