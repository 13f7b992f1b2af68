import Effects
import Primitives

/// Names of rows that belong to a number: keyed digests, under every key version that lives, the current
/// one first. A counter that a key rotation would start anew would be no limit.
struct RowKeys: Sendable {
    let digest: any KeyedDigest

    func guessWindow(_ scheme: String, _ purpose: String, _ number: PhoneNumber) -> [String] {
        names("guess", scheme, purpose, number.e164)
    }

    func slot(
        _ scheme: String, _ purpose: String, _ number: PhoneNumber, _ run: RunID?
    ) -> [String] {
        names("slot", scheme, purpose, number.e164, run?.text ?? "")
    }

    func holder(_ scheme: String, _ number: PhoneNumber) -> [String] {
        names("holder", scheme, number.e164)
    }

    func anybody(_ number: PhoneNumber) -> [String] { names("anybody", number.e164) }

    func sends(_ scheme: String, _ number: PhoneNumber) -> [String] {
        names("sends", scheme, number.e164)
    }

    func boundSends(_ scheme: String, _ number: PhoneNumber) -> [String] {
        names("sends.bound", scheme, number.e164)
    }

    func allSends(_ number: PhoneNumber) -> [String] { names("sends.all", number.e164) }
    func addressSends(_ address: ClientAddress) -> [String] {
        names("sends.address", address.text)
    }

    func upgoingText(_ normal: String) -> [String] { names("upgoing", normal) }
    func upgoingHolder(_ scheme: String, _ purpose: String, _ whose: String) -> [String] {
        names("upgoing.holder", scheme, purpose, whose)
    }

    func inbound(_ messageID: String) -> [String] { names("inbound", messageID) }
    func inboundContent(_ sender: PhoneNumber, _ normal: String) -> [String] {
        names("inbound.content", sender.e164, normal)
    }

    func sender(_ number: PhoneNumber) -> VersionedDigest {
        digest.digest("sender\u{0}\(number.e164)")
    }

    func matches(_ number: PhoneNumber, _ stored: VersionedDigest) -> Bool {
        digest.matches(Array("sender\u{0}\(number.e164)".utf8), stored)
    }

    /// Each part is led by its length, so that no two lists share one name.
    private func names(_ parts: String...) -> [String] {
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return digest.digests(Array(text.utf8)).map(\.text)
    }
}
