import Foundation
package import FusionAuth

/// A phone of the sandbox, through the calls of the gateway's phone page (development only).
package struct SandboxPhone: PersonWithPhone {
    private struct Inbox: Codable {
        struct Message: Codable {
            let sequence: Int64
            let text: String
        }
        let messages: [Message]
    }
    private struct InboxQuery: Codable {
        let numbers: [String]
        let afterSequence: Int64
    }
    private struct SIM: Codable { let simId: String }
    private struct SIMQuery: Codable {
        let numbers: [String]
        let carrier: String
        let fault: String
    }
    private struct Carrier: Codable {
        let carrierToken: String?
        let innerCode: Int
    }

    /// How often the inbox is looked at, and how long in between: the person waits a quarter minute.
    private static let looksMax = 150
    private static let gap = Duration.milliseconds(100)

    private let transport: any FusionAuthTransport
    private let simFault: String
    private let seen = Guarded<Int64>(0)

    /// - Parameter simFault: `none`, `no_cellular_data` … as `sandbox.sim` names them.
    package init(_ transport: any FusionAuthTransport, simFault: String = "none") {
        self.transport = transport
        self.simFault = simFault
    }

    package func clearInbox(of number: String) async {
        if let newest = await inbox(of: number)?.messages.last {
            seen.with { $0 = newest.sequence }
        }
    }

    package func readCode(of number: String) async -> String? {
        for _ in 0..<Self.looksMax where !Task.isCancelled {
            // Who was called off in between must not take the next code away.
            if let newest = await inbox(of: number)?.messages.last, !Task.isCancelled {
                seen.with { $0 = newest.sequence }
                if let code = newest.text.firstMatch(of: /[0-9]{4,10}/) {
                    return String(code.output)
                }
            }
            try? await Task.sleep(for: Self.gap)
        }
        return nil
    }

    package func sendText(_ text: String, from number: String, to receiver: String) async {
        let body = ["sender": number, "receiver": receiver, "text": text]
        let _: [String: String]? = await ask("send-mo", body)
    }

    package func carrierToken(of number: String) async -> (token: String?, innerCode: Int) {
        let sim: SIM? = await ask(
            "sim", SIMQuery(numbers: [number], carrier: "mobile", fault: simFault))
        guard let sim else { return (nil, FusionAuthInnerCode.noSIM.rawValue) }
        let answer: Carrier? = await ask("carrier-token", ["simId": sim.simId])
        return (
            answer?.carrierToken, answer?.innerCode ?? FusionAuthInnerCode.tokenFetchFailed.rawValue
        )
    }

    private func inbox(of number: String) async -> Inbox? {
        await ask("inbox", InboxQuery(numbers: [number], afterSequence: seen.with { $0 }))
    }

    private func ask<Answer: Decodable>(_ name: String, _ body: some Encodable) async -> Answer? {
        let request = FusionAuthRequest(
            "POST", "/demo/api/\(name)", headers: ["Content-Type": "application/json"],
            body: try? JSONEncoder().encode(body))
        guard let response = try? await transport.send(request), response.status == 200 else {
            return nil
        }
        return try? JSONDecoder().decode(Answer.self, from: response.body)
    }
}
