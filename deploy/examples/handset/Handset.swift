import Foundation
import FusionAuth

/// Plays scenes on a phone of the sandbox: the app is `HandsetApp`, the person is `Person`.
@main enum Handset {
    static func main() async {
        switch Flags.read(Array(CommandLine.arguments.dropFirst())) {
        case .help: FileHandle.standardOutput.write(Data(Flags.usage.utf8))
        case .wrong(let fault):
            FileHandle.standardError.write(Data("handset: \(fault)\n\n\(Flags.usage)".utf8))
            exit(2)
        case .play(let flags):
            let stage = Stage(printsJSON: flags.has("json"))
            exit(await Play(flags, stage).run() ? 0 : 1)
        }
    }
}

/// One person, one app, some scenes.
struct Play {
    /// Until the token is known to be good, and until a scene ends. A person is much quicker.
    private static let tokenMax = Duration.seconds(60)
    private static let sceneMax = Duration.seconds(180)

    private let app: HandsetApp
    private let handler: FusionAuthHandler
    private let person: Person
    private let server: HTTPAppServer?
    private let tokenCommand: TokenCommand?
    private let templates: [String]
    private let stage: Stage

    init(_ flags: Flags, _ stage: Stage) {
        var plan = Plan()
        plan.number = flags["number"] ?? ""
        plan.newNumbers = flags.list("new-number")
        plan.templates = flags.templates
        plan.usesOneClick = !flags.has("other-login")
        plan.wrongCodes = flags.wrongCodes ?? 0
        plan.givesUp = flags.has("gives-up")
        plan.lies = flags.has("lies")
        let phone = SandboxPhone(
            URLSessionTransport(endpoint: flags.gateway), simFault: flags["sim-fault"] ?? "none")
        person = Person(plan, phone) { stage.say("person", $0) }
        server = flags.url("app-server").map {
            HTTPAppServer(
                URLSessionTransport(endpoint: $0), bundleId: flags["bundle-id"] ?? "com.example.app"
            )
        }
        tokenCommand = flags["token-command"].map { TokenCommand($0) }
        let pasted = flags["token"].map { FusionAuthToken($0) }
        app = HandsetApp(
            server: server, pastedToken: pasted,
            hand: flags["verify-command"].map { VerifyCommand($0) }, number: flags["stored-number"],
            screen: stage)
        var options = FusionAuthHandler.Options()
        options.deviceId = flags["device"] ?? UUID().uuidString
        options.locale = "en"
        options.carrier = PhoneCarrier(person: person, phone: phone)
        handler = FusionAuthHandler(
            token: pasted, schemeCode: flags["scheme"] ?? "", endpoint: flags.gateway,
            options: options)
        templates = plan.templates
        self.stage = stage
        stage.person.with { $0 = person }
    }

    /// - Returns: whether every scene ended as designed.
    func run() async -> Bool {
        handler.setFusionAuthDelegate(app)
        defer { handler.destroy() }
        guard await stage.next(of: [.active, .gaveUp], within: Self.tokenMax) == .active else {
            return false
        }
        var goodCount = 0
        for (index, templateId) in templates.enumerated() {
            if index > 0, let token = await freshToken() {
                handler.updateToken(FusionAuthToken(token))
                _ = await stage.next(of: [.active, .gaveUp], within: Self.tokenMax)
            }
            let numberBefore = app.state.number
            person.begin(templateId)
            handler.startScene(templateId: templateId, presenter: person)
            let end = await stage.next(of: Stage.Mark.ends, within: Self.sceneMax)
            person.rest()
            if let number = app.state.number, number != numberBefore { person.moved(to: number) }
            if end == .good { goodCount += 1 }
            guard end == .good || end == .bad else {
                stage.say("gave up", "\(templateId) did not \(end == .late ? "end" : "begin")")
                break
            }
        }
        await stage.settle()
        stage.say("played", "\(goodCount) of \(templates.count) scenes ended as designed")
        return goodCount == templates.count
    }

    /// One that knows the account of whoever has logged in since.
    private func freshToken() async -> String? {
        if let server { return try? await server.authToken() }
        guard let tokenCommand, let number = app.state.number else { return nil }
        return await tokenCommand.token(for: number)
    }
}
