import Foundation
import FusionAuth

/// A person at a shell takes the place of the app's server: one command for each mask token.
///
/// The command finds the token in `MASK_TOKEN` and prints `PASS` and the number, or `REJECT` or
/// `UNKNOWN`, as `fusionctl verify "$MASK_TOKEN"` does.
package struct VerifyCommand: MaskTokenCheck {
    private let command: String
    package init(_ command: String) { self.command = command }

    package func verdict(on maskToken: String) async -> Verdict {
        guard let (text, status) = await Shell.run(command, ["MASK_TOKEN": maskToken]) else {
            return .serverError("the verify command cannot be run")
        }
        return Self.read(text, status)
    }

    /// - Parameter status: of the command's end.
    static func read(_ text: String, _ status: Int32) -> Verdict {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "+" && $0 != "_" }
        if words.contains("PASS") {
            let number = words.first { $0.wholeMatch(of: /\+[1-9][0-9]{6,14}/) != nil }
            return .pass(number: number.map(String.init) ?? "")
        }
        if words.contains("REJECT") || words.contains("UNKNOWN") { return .refused }
        return status == 0 ? .noAnswer : .serverError("the verify command ended with \(status)")
    }
}

/// A person fetches the token to paste, for the account whose number is in `NUMBER`.
struct TokenCommand {
    private let command: String
    init(_ command: String) { self.command = command }

    /// - Returns: the first thing in the output that looks like a token.
    func token(for number: String) async -> String? {
        guard let (text, _) = await Shell.run(command, ["NUMBER": number]) else { return nil }
        return text.firstMatch(of: /[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/)
            .map { String($0.output) }
    }
}

private enum Shell {
    /// Then a command is ended.
    private static let runMax = DispatchTimeInterval.seconds(30)

    /// - Returns: output and exit status; nil where there is no shell.
    static func run(
        _ command: String, _ variables: [String: String]
    ) async -> (text: String, status: Int32)? {
        await withCheckedContinuation { continuation in
            // Blocks, and so not on a thread of the concurrency runtime.
            Thread.detachNewThread {
                continuation.resume(returning: wait(for: command, variables))
            }
        }
    }

    private static func wait(
        for command: String, _ variables: [String: String]
    ) -> (text: String, status: Int32)? {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        let (pid, isDone) = (process.processIdentifier, Guarded(false))
        DispatchQueue.global().asyncAfter(deadline: .now() + runMax) {
            isDone.with { if !$0 { kill(pid, SIGTERM) } }
        }
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        isDone.with { $0 = true }
        return (text, process.terminationStatus)
    }
}
