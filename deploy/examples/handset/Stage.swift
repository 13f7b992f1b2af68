import Foundation
import FusionAuth

/// Prints what the app shows, and tells the play how far it is.
final class Stage: Screen {
    enum Mark: Sendable, Hashable {
        case active, gaveUp
        /// A scene's end: as designed, or else.
        case good, bad
        /// No scene began.
        case refused
        case late

        static let ends: Set = [good, bad, refused]
    }

    let person = Guarded<Person?>(nil)
    private let printsJSON: Bool
    private let isHandedOver = Guarded(false)
    private let marks: AsyncStream<Mark>
    private let sink: AsyncStream<Mark>.Continuation

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
        (marks, sink) = AsyncStream.makeStream()
    }

    /// - Returns: `late` when none of them came in time.
    func next(of wanted: Set<Mark>, within limit: Duration) async -> Mark {
        let watch = Task { [sink] in
            try await Task.sleep(for: limit)
            sink.yield(.late)
        }
        defer { watch.cancel() }
        for await mark in marks where wanted.contains(mark) || mark == .late { return mark }
        return .late
    }

    /// The password page opens half a second after its scene.
    func settle() async { try? await Task.sleep(for: .milliseconds(700)) }

    func show(_ message: String) { say("message", message) }
    func setLoading(_ isLoading: Bool) {}
    func open(_ page: String) { say("page", page) }
    func becameActive() { sink.yield(.active) }
    func gaveUp() {
        say("gave up", "no good auth token")
        sink.yield(.gaveUp)
    }
    func leavesItToThePerson() {
        if person.with({ $0 })?.takesTurn() != true { sink.yield(.refused) }
    }
    func leavesItToTheHand() { isHandedOver.with { $0 = true } }
    func finished(_ event: FusionAuthEvent) {
        say("finished", "\(event.templateId) \(event.resultCode.value) \(event.reason ?? "")")
        let isHandedOver = isHandedOver.with { isHandedOver in
            defer { isHandedOver = false }
            return isHandedOver
        }
        let isStop = event.resultCode == .templateEnd
        let isGood = event.resultCode == .templateEndSuccess || (isHandedOver && isStop)
        sink.yield(isGood ? .good : .bad)
    }

    func say(_ what: String, _ text: String) {
        let line: String
        if printsJSON {
            let data = try? JSONEncoder().encode([what: text])
            line = data.map { String(decoding: $0, as: UTF8.self) } ?? ""
        } else {
            line = "\(what): \(text)"
        }
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
