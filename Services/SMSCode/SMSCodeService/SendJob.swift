import Effects
import Messages
import Primitives

/// What a send counts against, and how it is judged.
struct SendBudget: Sendable {
    let names: [String]
    let limits: [SendWindow.Limit]
    let cooldown: Duration
    /// Counted, but never a reason to refuse.
    let isJudged: Bool
    let isByAddress: Bool

    var span: Duration { limits.map(\.span).max() ?? .zero }
    var countMax: Int { max(1, limits.map(\.countMax).max() ?? 1) }
}

/// What a send asks for, with every default of policy and design in place.
struct SendSettings: Sendable {
    static let codeLengthStandard = 6
    static let lifetimeStandard: Int64 = 300
    static let cooldownStandard: Int64 = 60
    /// Runs keep this gap whatever the request says.
    static let cooldownOfRunsMin: Int64 = 60

    let templateID: String
    let length: Int
    let alphabet: CodeAlphabet
    let lifetime: Duration
    let cooldown: Duration
    let policy: DuplicatePolicy
    let caseSensitive: Bool
    let locale: String

    init(_ request: SendCode, _ scheme: Scheme) {
        let policy = scheme.policy
        let template =
            request.text?.templateCode ?? request.origin?.templateId
            ?? Self.template(ofPurpose: request.purpose)
        templateID = template ?? StandardWordings.api
        let ofTemplate = (policy.templates ?? []).first { $0.templateId == template }
        length =
            request.codeLength ?? ofTemplate?.codeLength ?? policy.codeLength
            ?? Self.codeLengthStandard
        alphabet = CodeAlphabet(rawValue: request.codeType ?? policy.codeType ?? 1) ?? .digits
        lifetime = .seconds(
            request.lifetimeSeconds ?? ofTemplate?.codeLifetimeSeconds
                ?? policy.codeLifetimeSeconds ?? Self.lifetimeStandard)
        let asked = request.cooldownSeconds ?? policy.cooldownSeconds ?? Self.cooldownStandard
        cooldown = .seconds(
            request.origin?.runId == nil ? asked : max(asked, Self.cooldownOfRunsMin))
        self.policy = request.duplicatePolicy ?? policy.duplicatePolicy ?? .newest
        caseSensitive = policy.caseSensitive ?? false
        locale = request.locale ?? policy.locale ?? "en"
    }

    static func template(ofPurpose purpose: String) -> String? {
        purpose.hasPrefix("scene:") ? String(purpose.dropFirst("scene:".count)) : nil
    }

    /// What a number without a live code is judged by, so that it answers like one that has one.
    static func expectedChargesMax(_ purpose: String, _ scheme: Scheme) -> Int {
        let policy = scheme.policy
        let alphabet = CodeAlphabet(rawValue: policy.codeType ?? 1) ?? .digits
        let template = template(ofPurpose: purpose)
        let ofTemplate = (policy.templates ?? []).first { $0.templateId == template }
        // The dypnsapi edge makes four digits where its caller says nothing.
        let length =
            purpose.hasPrefix("api:")
            ? 4 : ofTemplate?.codeLength ?? policy.codeLength ?? codeLengthStandard
        return alphabet.chargesMax(length: length, caseSensitive: policy.caseSensitive ?? false)
    }
}

extension TestNumber {
    /// `+1415555xxxx` stands for any digit at each `x`.
    func covers(_ candidate: PhoneNumber, at now: WallTime) -> Bool {
        guard now.millisecondsSince1970 < endsAtMilliseconds else { return false }
        let (pattern, digits) = (Array(number.utf8), Array(candidate.e164.utf8))
        guard pattern.count == digits.count else { return false }
        return zip(pattern, digits).allSatisfy { $0 == $1 || $0 == UInt8(ascii: "x") }
    }
}

/// A send with all that is read and drawn before its transaction.
struct SendJob: Sendable {
    let request: SendCode
    let scheme: Scheme
    let settings: SendSettings
    let number: PhoneNumber
    let text: MessageText
    let testNumber: TestNumber?
    let budgets: [SendBudget]
    let guessNames: [String]
    let slots: [String]
    let holder: String
    let anybody: String
    let messageID: MessageID
    let challengeID: ChallengeID
    let now: WallTime
    /// The code of this call's own decision, noted in its last round. It is read only when the answer
    /// names this call's message, which no earlier answer does.
    let issued = Lock<IssuedCode?>(nil)
}

/// What the first transaction of a send decided.
struct SendPlan: Codable, Sendable {
    let messageID: MessageID
    let code: IssuedCode?
    let reply: SentCode
}
