package import Primitives

/// Port to a scorer of numbers. Without one a PASS carries no score; a score never changes a
/// decision.
package protocol PhoneScorer: Sendable {
    /// - Returns: 0…100, higher is riskier; nil when it does not know, or not within `timeout`.
    func score(_ number: PhoneNumber, schemeCode: String, timeout: Duration) async -> Int?
}
