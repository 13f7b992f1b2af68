import Effects
import Messages
import Primitives

/// Makes the codes of challenges again, to send and to compare; and keeps guesses as MACs.
struct CodeBook: Sendable {
    let derivation: any CodeDerivation
    /// For guesses and for the fixed codes of test numbers; bound to the challenge's id.
    let guesses: any KeyedDigest

    /// What was typed, in the clear or as its MAC.
    enum Guess: Sendable {
        case typed(TypedCode, caseSensitive: Bool)
        case attached(VersionedDigest)
    }

    /// nil for a fixed code, and when the key of its version is gone.
    func code(_ issued: IssuedCode, of challenge: ChallengeID) -> Secret<String>? {
        guard issued.fixed == nil else { return nil }
        return derivation.code(
            challengeID: challenge.text, sequence: issued.sequence, length: issued.length,
            alphabet: issued.alphabet.characters, version: issued.keyVersion)
    }

    /// Takes the same time for a right and a wrong guess.
    func matches(_ guess: Guess, _ issued: IssuedCode, of challenge: CodeChallenge) -> Bool {
        switch guess {
        case .typed(let typed, let wantsCase):
            let keepsCase = wantsCase || challenge.caseSensitive
            let bytes = typed.comparable(caseSensitive: keepsCase)
            if let fixed = issued.fixed {
                return guesses.matches(
                    message(bytes, challenge.id), keepsCase ? fixed.exact : fixed.folded)
            }
            guard let code = code(issued, of: challenge.id) else { return false }
            return constantTimeEqual(bytes, comparable(code, keepsCase))
        case .attached(let mac):
            if let fixed = issued.fixed {
                let expected = challenge.caseSensitive ? fixed.exact : fixed.folded
                return expected.version == mac.version
                    && constantTimeEqual(expected.bytes, mac.bytes)
            }
            guard let code = code(issued, of: challenge.id) else { return false }
            let bytes = comparable(code, challenge.caseSensitive)
            return guesses.matches(message(bytes, challenge.id), mac)
        }
    }

    func mac(_ typed: TypedCode, for challenge: CodeChallenge) -> VersionedDigest {
        guesses.digest(
            message(typed.comparable(caseSensitive: challenge.caseSensitive), challenge.id))
    }

    func fixed(
        _ code: String, endsAt: WallTime, for challenge: ChallengeID
    ) -> IssuedCode.FixedCode {
        let bytes = Array(code.utf8)
        return IssuedCode.FixedCode(
            exact: guesses.digest(message(bytes, challenge)),
            folded: guesses.digest(message(TypedCode.folded(bytes), challenge)), endsAt: endsAt)
    }

    /// Costs what comparing with one code costs, where there is none to compare with.
    func compareWithNothing(_ guess: Guess) {
        let code = derivation.code(
            challengeID: "none", sequence: 0, length: 6,
            alphabet: CodeAlphabet.digits.characters, version: derivation.currentVersion)
        if case .typed(let typed, _) = guess, let code {
            _ = constantTimeEqual(
                typed.comparable(caseSensitive: false), comparable(code, false))
        }
    }

    private func comparable(_ code: Secret<String>, _ caseSensitive: Bool) -> [UInt8] {
        let bytes = Array(code.reveal().utf8)
        return caseSensitive ? bytes : TypedCode.folded(bytes)
    }

    private func message(_ code: [UInt8], _ challenge: ChallengeID) -> [UInt8] {
        Array("\(challenge.text)/".utf8) + code
    }
}
