import Foundation

/// A phone of the sandbox, reached through `fusionctl`.
package struct SandboxPhone: PersonWithPhone {
    private struct Inbox: Codable {
        struct Message: Codable {
            let sequence: Int64
            let text: String
        }
        let messages: [Message]
    }
    private struct Carrier: Codable {
        let carrierToken: String?
        let innerCode: Int
    }

    /// How often the inbox is looked at, each time for up to a second.
    private static let looksMax = 15

    private let tool: String
    private let home: String
    private let seen = Locked<Int64>(0)

    package init(tool: String, home: String) {
        self.tool = tool
        self.home = home
    }

    package func readCode(of number: String) async -> String? {
        for _ in 0..<Self.looksMax {
            let inbox: Inbox? = await ask([
                "sms", "inbox", number, "--after", "\(seen.with { $0 })", "--wait", "1000",
            ])
            guard let newest = inbox?.messages.last else { continue }
            seen.with { $0 = newest.sequence }
            if let code = newest.text.firstMatch(of: /[0-9]{4,10}/) { return String(code.output) }
        }
        return nil
    }

    package func sendText(_ text: String, from number: String, to receiver: String) async {
        _ = await run(["sms", "send-mo", number, receiver, text])
    }

    package func carrierToken(of number: String) async -> (token: String?, innerCode: Int) {
        let answer: Carrier? = await ask([
            "call", "sandbox.carrier_token", #"{"number":"\#(number)"}"#,
        ])
        return (answer?.carrierToken, answer?.innerCode ?? 1_600_011)
    }

    private func ask<Answer: Decodable>(_ words: [String]) async -> Answer? {
        await run(words).flatMap { try? JSONDecoder().decode(Answer.self, from: $0) }
    }

    /// - Returns: what it printed; nil when it failed.
    private func run(_ words: [String]) async -> Data? {
        await withCheckedContinuation { continuation in
            OperationQueue().addOperation {
                let process = Process()
                process.executableURL = URL(filePath: tool)
                process.arguments = words + ["--json", "--home", home]
                let out = Pipe()
                process.standardOutput = out
                process.standardError = FileHandle.nullDevice
                process.standardInput = FileHandle.nullDevice
                guard (try? process.run()) != nil else {
                    return continuation.resume(returning: nil)
                }
                let data = try? out.fileHandleForReading.readToEnd()
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus == 0 ? data : nil)
            }
        }
    }
}
