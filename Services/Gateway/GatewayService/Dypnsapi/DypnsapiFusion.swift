import Messages
import Primitives

/// Fusion authentication with scenes.
extension DypnsapiCall {
    /// `Model` is the token itself.
    func getFusionAuthToken() async throws(DypnsapiError) -> DypnsapiAnswer {
        let schemeCode = try scheme(try parameters.required("SchemeCode"))
        guard let seconds = try parameters.integer("DurationSeconds") else {
            throw .missing("DurationSeconds")
        }
        let lifetimes = IssueAuthToken.durationSecondsRange
        guard lifetimes.contains(seconds) else {
            throw .invalid(
                "DurationSeconds", "must lie in \(lifetimes.lowerBound)…\(lifetimes.upperBound)")
        }
        let request: IssueAuthToken
        switch try parameters.required("Platform") {
        case "iOS":
            request = IssueAuthToken(
                schemeCode: schemeCode, platform: .ios,
                bundleId: try parameters.required("BundleId"), durationSeconds: seconds)
        case "Android":
            request = IssueAuthToken(
                schemeCode: schemeCode, platform: .android,
                packageName: try parameters.required("PackageName"),
                packageSign: try parameters.required("PackageSign"), durationSeconds: seconds)
        default: throw .invalid("Platform", "takes iOS or Android")
        }
        do throws(ServiceFailure) {
            let issued = try await ask(request)
            return ["Success": true, "Model": .text(issued.authToken)]
        } catch {
            throw DypnsapiFailure.ofFusion(error)
        }
    }

    /// PASS with the number, or UNKNOWN: client libraries know no third result here.
    func verifyWithFusionAuthToken() async throws(DypnsapiError) -> DypnsapiAnswer {
        let maskToken = Secret(try parameters.required("VerifyToken"))
        let verified: Verified
        do throws(ServiceFailure) {
            verified = try await verify(maskToken)
        } catch {
            throw DypnsapiFailure.ofFusion(error)
        }
        guard verified.result == .pass, let number = verified.phoneNumber else {
            let reason = verified.reason ?? .numberMismatch
            return [
                "Success": true,
                "Model": ["VerifyResult": "UNKNOWN", "Reason": .text(reason.rawValue)],
            ]
        }
        return [
            "Success": true,
            "Model": .object(some: [
                "VerifyResult": "PASS", "PhoneNumber": .text(DypnsapiNumber.shown(number)),
                "PhoneScore": verified.phoneScore.map { .integer(Int64($0)) },
            ]),
        ]
    }

    /// A key that is held to some schemes asks for one after the other: a token of another scheme
    /// answers each like one that does not exist, and stays as it is.
    private func verify(_ maskToken: Secret<String>) async throws(ServiceFailure) -> Verified {
        guard let codes = key.schemeCodes else {
            return try await ask(VerifyMaskToken(maskToken: maskToken))
        }
        for code in codes {
            let verified = try await ask(
                VerifyMaskToken(maskToken: maskToken, schemeCode: code),
                part: codes.count == 1 ? nil : code)
            if verified.reason != .maskTokenInvalid { return verified }
        }
        return Verified(result: .unknown, reason: .maskTokenInvalid)
    }
}
