import Messages
import Primitives

/// Codes by SMS without a scene.
extension DypnsapiCall {
    static let schemeNameDefault = "默认方案"
    static let schemeNameCharactersMax = 20
    /// What clients of the original expect where they say nothing.
    static let codeLengthDefault: Int64 = 4
    static let codeTypeDefault: Int64 = 1
    static let validSecondsDefault: Int64 = 300
    static let intervalSecondsDefault: Int64 = 60
    private static let codeLengths: ClosedRange<Int64> = 4...8
    private static let codeTypes: ClosedRange<Int64> = 1...7
    private static let validSeconds: ClosedRange<Int64> = 60...600
    private static let intervalSeconds: ClosedRange<Int64> = 1...3_600

    func sendSmsVerifyCode() async throws(DypnsapiError) -> DypnsapiAnswer {
        let returnsCode = try parameters.flag("ReturnVerifyCode") ?? false
        let outID = parameters["OutId"]
        let request = SendCode(
            schemeCode: try scheme(parameters["SchemeCode"]), purpose: try purpose(),
            number: try number(),
            text: MessageTextRequest(
                templateCode: try parameters.required("TemplateCode"),
                parameters: try templateParameters(),
                signature: try parameters.required("SignName")),
            codeLength: Int(
                try ranged("CodeLength", Self.codeLengths) ?? Self.codeLengthDefault),
            codeType: Int(try ranged("CodeType", Self.codeTypes) ?? Self.codeTypeDefault),
            lifetimeSeconds: try ranged("ValidTime", Self.validSeconds)
                ?? Self.validSecondsDefault,
            cooldownSeconds: try ranged("Interval", Self.intervalSeconds)
                ?? Self.intervalSecondsDefault,
            duplicatePolicy: try ranged("DuplicatePolicy", 1...2) == 2 ? .all : .newest,
            returnCode: returnsCode ? true : nil, outId: outID)
        let sent: SentCode
        do throws(ServiceFailure) {
            sent = try await ask(request)
        } catch {
            throw DypnsapiFailure.ofSMS(error)
        }
        return [
            "Success": true,
            "Model": .object(some: [
                "BizId": .text(DypnsapiBizID.text(sent.messageId)),
                "OutId": outID.map { .text($0) },
                "RequestId": .text(scope.requestID),
                "VerifyCode": returnsCode ? sent.code.map { .text($0.reveal()) } : nil,
            ]),
        ]
    }

    func checkSmsVerifyCode() async throws(DypnsapiError) -> DypnsapiAnswer {
        let outID = parameters["OutId"]
        let request = CheckCode(
            schemeCode: try scheme(parameters["SchemeCode"]), purpose: try purpose(),
            number: try number(), code: try parameters.required("VerifyCode"),
            caseSensitive: try ranged("CaseAuthPolicy", 1...2) == 2, outId: outID)
        let result: CodeResult
        do throws(ServiceFailure) {
            result = try await ask(request).result
        } catch {
            // Whatever a person types is a wrong code, not a fault of the program.
            guard error.code == .invalidParameters, error.field == "code" else {
                throw DypnsapiFailure.ofSMS(error)
            }
            result = .rejected
        }
        if result != .accepted, configuration.failedCheckIsError {
            throw DypnsapiError(
                400, "isv.ValidateFail", "验证失败",
                recommend: "Let the person type the code again, or send a new one.",
                reason: result.rawValue)
        }
        return [
            "Success": true,
            "Model": .object(some: [
                "VerifyResult": result == .accepted ? "PASS" : "UNKNOWN",
                "OutId": outID.map { .text($0) },
                "Reason": result == .accepted ? nil : .text(result.rawValue),
            ]),
        ]
    }

    func querySendDetails() async throws(DypnsapiError) -> DypnsapiAnswer {
        let page = try ranged("CurrentPage", 1...1_000) ?? 1
        let pageSize = try ranged("PageSize", 1...100) ?? 1
        let messageID = parameters["BizId"].map { DypnsapiBizID.messageID($0) }
        let request = GetSendDetails(
            schemeCode: try scheme(parameters["SchemeCode"]), number: try number(),
            day: try parameters.required("SendDate"),
            utcOffsetMinutes: DypnsapiTime.utcOffsetMinutes, messageId: messageID ?? nil,
            page: Int(page), pageSize: Int(pageSize))
        var details: SendDetails
        do throws(ServiceFailure) {
            details = try await ask(request)
        } catch {
            throw DypnsapiFailure.ofSMS(error)
        }
        // No message has a BizId that is none of ours.
        if case .some(.none) = messageID { details = SendDetails(total: 0, details: []) }
        return [
            "Success": true, "TotalCount": .integer(Int64(details.total)),
            "Model": .array(details.details.map(Self.shown)),
        ]
    }

    // MARK: -

    private static func shown(_ detail: SendDetail) -> DypnsapiValue {
        let (status, code) = state(detail)
        return .object(some: [
            "Content": .text(detail.content), "ErrCode": .text(code),
            "OutId": .text(detail.outId ?? ""),
            "PhoneNum": .text(DypnsapiNumber.shown(detail.number)),
            "ReceiveDate": detail.deliveredAtMilliseconds.map { .text(DypnsapiTime.local($0)) },
            "SendDate": .text(
                DypnsapiTime.local(detail.sentAtMilliseconds ?? detail.createdAtMilliseconds)),
            "SendStatus": .integer(status), "TemplateCode": .text(detail.templateCode ?? ""),
        ])
    }

    /// 1 waiting, 2 failed, 3 delivered.
    private static func state(_ detail: SendDetail) -> (status: Int64, code: String) {
        switch detail.delivery {
        case .queued, .sending, .sent: (1, "")
        case .undelivered, .refused, .abandoned:
            (2, detail.reason ?? detail.delivery.rawValue.uppercased())
        case .delivered: (3, "DELIVERED")
        // A test number: it has its code, and nothing was sent.
        case .simulated: (3, "SIMULATED")
        }
    }

    /// SchemeName isolates codes from each other, and is no scheme.
    private func purpose() throws(DypnsapiError) -> String {
        let name = parameters["SchemeName"] ?? Self.schemeNameDefault
        guard name.unicodeScalars.count <= Self.schemeNameCharactersMax,
            name.utf8.count <= 3 * Self.schemeNameCharactersMax
        else {
            throw Self.invalid(
                "SchemeName", "takes at most \(Self.schemeNameCharactersMax) characters")
        }
        return "api:" + name
    }

    private func number() throws(DypnsapiError) -> String {
        try DypnsapiNumber.typed(
            try parameters.required("PhoneNumber"), countryCode: parameters["CountryCode"])
    }

    /// A value of the right type outside its range is the product's to refuse, not the gateway's.
    private func ranged(
        _ name: String, _ range: ClosedRange<Int64>
    ) throws(DypnsapiError) -> Int64? {
        guard let number = try parameters.integer(name) else { return nil }
        guard range.contains(number) else {
            throw Self.invalid(name, "must lie in \(range.lowerBound)…\(range.upperBound)")
        }
        return number
    }

    /// `{"code":"##code##","min":"5"}`: an object of texts and whole numbers.
    private func templateParameters() throws(DypnsapiError) -> [String: String] {
        let text = try parameters.required("TemplateParam")
        let refusal = Self.invalid("TemplateParam", "takes an object of texts, as JSON")
        let tree: JSONTree
        do throws(ServiceFailure) {
            tree = try StrictJSON.read(Array(text.utf8))
        } catch {
            throw refusal
        }
        guard case .object(let members) = tree else { throw refusal }
        var values: [String: String] = [:]
        for member in members {
            switch member.value {
            case .text(let value): values[member.name] = value
            case .integer(let value): values[member.name] = String(value)
            case .object, .array, .number, .flag, .null: throw refusal
            }
        }
        return values
    }

    private static func invalid(_ name: String, _ why: String) -> DypnsapiError {
        .business(
            "isv.INVALID_PARAMETERS", "\(name) \(why)",
            reason: ErrorCode.invalidParameters.rawValue)
    }
}
