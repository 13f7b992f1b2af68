import Messages
import Primitives

/// What the calls of the page take. Nothing here reaches further than one phone: no fault of all
/// numbers, no other scheme, no choice of lifetimes.
struct PhonePageShapes: Sendable {
    let nothing: BodyShape<NothingBody>
    let token: BodyShape<TokenBody>
    let verify: BodyShape<VerifyBody>
    let sim: BodyShape<PutSIM>
    let carrierToken: BodyShape<CarrierTokenBody>
    let inbox: BodyShape<InboxBody>
    let text: BodyShape<TextBody>
    let fault: BodyShape<FaultBody>

    init() throws {
        nothing = try BodyShape()
        token = try BodyShape()
        verify = try BodyShape()
        sim = try BodyShape()
        carrierToken = try BodyShape()
        inbox = try BodyShape()
        text = try BodyShape()
        fault = try BodyShape()
    }
}

struct NothingBody: Codable, Sendable, Hashable {}

struct TokenBody: Codable, Sendable, Hashable {
    /// Of the account that is signed in.
    let boundNumber: String?
}

struct VerifyBody: Codable, Sendable, Hashable {
    let maskToken: Secret<String>
}

struct CarrierTokenBody: Codable, Sendable, Hashable {
    let simId: SIMID
}

struct InboxBody: Codable, Sendable, Hashable {
    /// As many as a phone may have had of late.
    static let numbersMax = 4

    let numbers: [String]
    let afterSequence: Int64?
}

/// An SMS that the person sends.
struct TextBody: Codable, Sendable, Hashable {
    static let textBytesMax = 1_000

    let sender: String
    let receiver: String
    let text: String
}

struct FaultBody: Codable, Sendable, Hashable {
    let number: String
    let fault: SMSFault
}

// MARK: Answers

struct PhonePageConfig: Codable, Sendable, Hashable {
    let schemeCode: String
    let schemeName: String
    let platform: AppPlatform
    /// Bundle id, package name or origin.
    let app: String
    let tokenLifetimeSeconds: Int64
}

/// What a daemon's own counters say.
struct DaemonActivity: Codable, Sendable, Hashable {
    struct Calls: Codable, Sendable, Hashable {
        let name: String
        let requests: Int64
        let errors: Int64
        let microseconds: Int64
    }

    let service: String
    let answers: Bool
    /// Of several instances, the one that answered: its counters are its own.
    let instance: String?
    let methods: [Calls]
}

struct Activity: Codable, Sendable, Hashable {
    let daemons: [DaemonActivity]
}
