import Foundation
import FusionAuth

/// handset --gateway URL --scheme CODE (--app-server URL | --token T)
///         [--template 100001,100002 …] [--number N] [--new-number N] [--stored-number N]
///         [--other-login] [--wrong-codes N] [--gives-up] [--lies] [--bundle-id ID] [--device ID]
///         [--sim-fault NAME] [--json]
///
/// Plays scenes on a phone of the sandbox: the app is `HandsetApp`, the person is `Person`.
@main enum Handset {
    static func main() async {
        guard let flags = Flags(CommandLine.arguments.dropFirst()),
            let gateway = flags.url("gateway"),
            let schemeCode = flags["scheme"], flags["token"] != nil || flags["app-server"] != nil
        else {
            FileHandle.standardError.write(Data("handset: see the head of Handset.swift\n".utf8))
            exit(2)
        }
        let stage = Stage(printsJSON: flags.has("json"))
        let wasGood = await Play(flags, gateway, schemeCode, stage).run()
        exit(wasGood ? 0 : 1)
    }
}

struct Flags {
    private static let switches: Set = ["other-login", "gives-up", "lies", "json"]
    private var values: [String: String] = [:]

    init?(_ words: some Sequence<String>) {
        var name: String?
        for word in words {
            if let wanted = name {
                values[wanted] = word
                name = nil
            } else if word.hasPrefix("--") {
                let flag = String(word.dropFirst(2))
                if Self.switches.contains(flag) { values[flag] = "" } else { name = flag }
            } else {
                return nil
            }
        }
        if name != nil { return nil }
    }

    subscript(name: String) -> String? { values[name] }
    func has(_ name: String) -> Bool { values[name] != nil }
    func url(_ name: String) -> URL? { values[name].flatMap { URL(string: $0) } }
}

/// One person, one app, some scenes.
struct Play {
    private let app: HandsetApp
    private let handler: FusionAuthHandler
    private let person: Person
    private let server: HTTPAppServer?
    private let templates: [String]
    private let stage: Stage

    init(_ flags: Flags, _ gateway: URL, _ schemeCode: String, _ stage: Stage) {
        var plan = Plan()
        plan.number = flags["number"] ?? ""
        plan.newNumber = flags["new-number"] ?? ""
        plan.usesOneClick = !flags.has("other-login")
        plan.wrongCodes = flags["wrong-codes"].flatMap(Int.init) ?? 0
        plan.givesUp = flags.has("gives-up")
        plan.lies = flags.has("lies")
        let phone = SandboxPhone(
            URLSessionTransport(endpoint: gateway), simFault: flags["sim-fault"] ?? "none")
        person = Person(plan, phone)
        server = flags.url("app-server").map {
            HTTPAppServer(
                URLSessionTransport(endpoint: $0), bundleId: flags["bundle-id"] ?? "com.example.app"
            )
        }
        let pasted = flags["token"].map { FusionAuthToken($0) }
        app = HandsetApp(
            server: server, pastedToken: pasted, number: flags["stored-number"], screen: stage)
        var options = FusionAuthHandler.Options()
        options.deviceId = flags["device"] ?? UUID().uuidString
        options.locale = "en"
        options.carrier = PhoneCarrier(phone: phone, number: plan.number)
        handler = FusionAuthHandler(
            token: pasted, schemeCode: schemeCode, endpoint: gateway, options: options)
        templates = (flags["template"] ?? "100001").split(separator: ",").map(String.init)
        self.stage = stage
        stage.person.with { $0 = person }
    }

    /// - Returns: whether every scene ended well.
    func run() async -> Bool {
        handler.setFusionAuthDelegate(app)
        defer { handler.destroy() }
        guard await stage.next(of: [.active, .gaveUp]) == .active else { return false }
        var wasGood = true
        for (index, templateId) in templates.enumerated() {
            if index > 0, let server, let token = try? await server.authToken() {
                // Who has logged in since gets a token that knows the account.
                handler.updateToken(FusionAuthToken(token))
                _ = await stage.next(of: [.active, .gaveUp])
            }
            handler.startScene(templateId: templateId, presenter: person)
            let end = await stage.next(of: [.finished(true), .finished(false)])
            wasGood = wasGood && end == .finished(true)
        }
        await stage.settle()
        return wasGood
    }
}

/// Prints what the app shows, and tells the play how far it is.
final class Stage: Screen {
    enum Mark: Sendable, Hashable {
        case active, gaveUp
        case finished(Bool)
    }

    let person = Locked<Person?>(nil)
    private let printsJSON: Bool
    private let marks: AsyncStream<Mark>
    private let sink: AsyncStream<Mark>.Continuation

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
        (marks, sink) = AsyncStream.makeStream()
    }

    func next(of wanted: Set<Mark>) async -> Mark? {
        for await mark in marks where wanted.contains(mark) { return mark }
        return nil
    }

    /// The password page opens half a second after its scene.
    func settle() async { try? await Task.sleep(for: .milliseconds(700)) }

    func show(_ message: String) {
        say("message", message)
        if message.hasPrefix("the code is wrong") || message.hasPrefix("this is not the number") {
            person.with { $0 }?.wasRefused()
        }
    }
    func setLoading(_ isLoading: Bool) {}
    func open(_ page: String) { say("page", page) }
    func becameActive() { sink.yield(.active) }
    func gaveUp() {
        say("gave up", "no good auth token")
        sink.yield(.gaveUp)
    }
    func finished(_ event: FusionAuthEvent) {
        say("finished", "\(event.templateId) \(event.resultCode.value) \(event.reason ?? "")")
        sink.yield(.finished(event.resultCode == .templateEndSuccess))
    }

    private func say(_ what: String, _ text: String) {
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
