import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// Number Verification v2: the number of the device that won the access token, or whether it is the
/// one that the client believes. A token serves one call.
struct NumberVerification: Sendable {
    static let base = "/number-verification/v2"
    static let verifyScope = "number-verification:verify"
    static let readScope = "number-verification:device-phone-number:read"
    /// A token proves who held the device when it was won.
    static let tokenLifetimeMax = Duration.seconds(300)
    private static let tokenIDBytes = 1...256

    private let bus: any BusCaller
    private let phoneNumbers: any PhoneNumberParser
    private let signer: any TokenSigner

    init(
        bus: any BusCaller, phoneNumbers: any PhoneNumberParser, signer: any TokenSigner
    ) {
        self.bus = bus
        self.phoneNumbers = phoneNumbers
        self.signer = signer
    }

    /// What the token tells of the device.
    private enum Device {
        case carrierToken(Secret<String>)
        case number(PhoneNumber)
    }

    /// What the client believes.
    private enum Belief {
        case number(PhoneNumber)
        case hash([UInt8])
    }

    private struct Match: Encodable {
        let devicePhoneNumberVerified: Bool
    }

    private struct Share: Encodable {
        let devicePhoneNumber: String
    }

    // MARK: Operations

    func verify(_ call: CamaraCall) async throws(CamaraError) -> HTTPResponse {
        let device = try device(of: call.token)
        // Read before the token is used up: a body that cannot be read costs nothing.
        let belief = try belief(call.request)
        try await use(call)
        let verified: Bool
        switch device {
        case .number(let number): verified = matches(belief, number)
        case .carrierToken(let token): verified = try await ask(belief, token, call)
        }
        return call.json(200, Match(devicePhoneNumberVerified: verified))
    }

    func devicePhoneNumber(_ call: CamaraCall) async throws(CamaraError) -> HTTPResponse {
        let device = try device(of: call.token)
        try await use(call)
        let number: PhoneNumber
        switch device {
        case .number(let told): number = told
        case .carrierToken(let token):
            do throws(ServiceFailure) {
                number = try await bus.call(
                    GetNumber(schemeCode: call.token.schemeCode, carrierToken: token),
                    call.options
                ).number
            } catch {
                throw CamaraError(error)
            }
        }
        return call.json(200, Share(devicePhoneNumber: number.e164))
    }

    // MARK: The token

    /// - Throws: 401 for a token that cannot be watched, 403 for one that was not won by network or
    ///   SIM, or that names no device.
    private func device(of token: AccessToken) throws(CamaraError) -> Device {
        let claims = token.claims
        guard let tokenID = claims.tokenID, Self.tokenIDBytes.contains(tokenID.utf8.count),
            let issuedAt = claims.issuedAt,
            claims.expiresAt - issuedAt <= Self.tokenLifetimeMax
        else { throw .tokenRefused }
        guard claims.methods.contains(where: token.issuer.methods.contains) else {
            throw .notByMobileNetwork
        }
        switch token.issuer.device {
        case .carrierToken(let claim):
            guard let text = claims.texts[claim], !text.isEmpty else { throw .notByMobileNetwork }
            return .carrierToken(Secret(text))
        case .number(let claim):
            guard let number = claims.texts[claim].flatMap(Self.number) else {
                throw .notByMobileNetwork
            }
            return .number(number)
        case .nothing: throw .notByMobileNetwork
        }
    }

    private static func number(_ claim: String) -> PhoneNumber? {
        PhoneNumber(e164: claim.hasPrefix("tel:") ? String(claim.dropFirst(4)) : claim)
    }

    /// Uses the token up, over all gateways.
    private func use(_ call: CamaraCall) async throws(CamaraError) {
        let claims = call.token.claims
        guard let tokenID = claims.tokenID else { throw .tokenRefused }
        let consumed: ConsumedToken
        do throws(ServiceFailure) {
            consumed = try await bus.call(
                ConsumeToken(
                    issuer: claims.issuer, tokenId: tokenID,
                    untilMilliseconds: claims.expiresAt.millisecondsSince1970),
                call.scope.options())
        } catch {
            throw CamaraError(error)
        }
        guard consumed.fresh else { throw .tokenRefused }
    }

    // MARK: The number

    private func belief(_ request: HTTPRequest) throws(CamaraError) -> Belief {
        let body = try CamaraBody(request, ["phoneNumber", "hashedPhoneNumber"])
        switch (body["phoneNumber"], body["hashedPhoneNumber"]) {
        case (let text?, nil):
            guard CamaraBody.isPhoneNumber(text) else {
                throw .invalid("phoneNumber is not in E.164 form with a leading +.")
            }
            // A number that no plan has is no device's: its hash compares as well as any other.
            guard let parsed = try? phoneNumbers.parse(text, defaultRegion: nil) else {
                return .hash(signer.sha256(Array(text.utf8)))
            }
            return .number(parsed.number)
        case (nil, let text?):
            guard CamaraBody.isNumberHash(text), let hash = Hex.decode(text) else {
                throw .invalid("hashedPhoneNumber must be 64 hexadecimal digits.")
            }
            return .hash(hash)
        default:
            throw .invalid("Exactly one of phoneNumber and hashedPhoneNumber must be given.")
        }
    }

    private func matches(_ belief: Belief, _ number: PhoneNumber) -> Bool {
        switch belief {
        case .number(let believed): believed == number
        case .hash(let hash):
            constantTimeEqual(hash, signer.sha256(Array(number.e164.utf8)))
        }
    }

    /// - Throws: whatever is neither yes nor no; nothing of it is ever `true`.
    private func ask(
        _ belief: Belief, _ token: Secret<String>, _ call: CamaraCall
    ) async throws(CamaraError) -> Bool {
        let (number, hash): (String?, String?) =
            switch belief {
            case .number(let number): (number.e164, nil)
            case .hash(let hash): (nil, Hex.encode(hash))
            }
        let result: VerificationResult
        do throws(ServiceFailure) {
            result = try await bus.call(
                MatchNumber(
                    schemeCode: call.token.schemeCode, carrierToken: token, number: number,
                    hashedNumber: hash),
                call.options
            ).result
        } catch {
            throw CamaraError(error)
        }
        switch result {
        case .pass: return true
        case .reject: return false
        case .unknown: throw .unavailable
        }
    }
}
