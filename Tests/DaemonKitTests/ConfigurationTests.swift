import DaemonKit
import Effects
import Primitives
import Testing

private struct Settings: DaemonConfiguration {
    static let section = "smscode"

    enum Policy: String, Codable, CaseIterable, Sendable { case newest, all }

    struct Limits: DefaultedConfiguration {
        var sendsPerHourMax = 5
        var cooldownSeconds = 60
    }

    struct Provider: DefaultedConfiguration, Hashable {
        var name = ""
        var port: UInt16 = 80
        var password: Secret<String>?
    }

    var codeLength = 6
    var share = 0.5
    var isStrict = true
    var policy = Policy.newest
    var limits = Limits()
    var providers: [Provider] = []
    var routes: [String: String] = ["86": "a"]
    var apiKey = Secret("built-in")
    var webHook: String?
    var tls: Limits?

    func problems() -> [String] {
        (4...10).contains(codeLength) ? [] : ["codeLength must lie in 4…10, not \(codeLength)"]
    }
}

@Suite struct ConfigurationTests {
    private let folder = TemporaryFolder()

    private func source(
        _ toml: String, _ environment: [String: String] = [:], _ flags: [String] = []
    ) -> ConfigurationSource {
        folder.write(toml, to: "fusion.toml")
        return ConfigurationSource(
            file: folder.path + "/fusion.toml", isFileRequired: true, environment: environment,
            assignments: flags)
    }

    private func read(
        _ toml: String, _ environment: [String: String] = [:], _ flags: [String] = []
    ) -> ConfigurationReading<Settings> { source(toml, environment, flags).read(Settings.self) }

    @Test("without any layer everything is the default")
    func defaults() {
        let source = ConfigurationSource(file: folder.path + "/none.toml", isFileRequired: false)
        let reading = source.read(Settings.self)
        #expect(source.problems.isEmpty && reading.problems.isEmpty && !source.isProduction)
        #expect(reading.configuration.codeLength == 6)
        #expect(reading.settings.allSatisfy { $0.origin == .standard })
    }

    @Test("flags win over variables, variables over the file, the file over defaults")
    func layers() {
        let toml = """
            [smscode]
            codeLength = 7
            share = 1
            isStrict = false
            policy = "all"
            webHook = "http://localhost"
            limits.sendsPerHourMax = 8
            """
        let environment = [
            "FUSION_SMSCODE_CODE_LENGTH": "8", "FUSION_SMSCODE_LIMITS_COOLDOWN_SECONDS": "30",
            "FUSION_HOME": "/x", "HOME": "/root", "FUSION_SMSCODE_WEB_HOOK": "true",
        ]
        let reading = read(toml, environment, ["smscode.codeLength=9", "smscode.share=0.25"])
        #expect(reading.problems.isEmpty, "\(reading.problems)")
        let settings = reading.configuration
        #expect(settings.codeLength == 9 && settings.share == 0.25)
        #expect(!settings.isStrict && settings.policy == .all)
        #expect(settings.limits.sendsPerHourMax == 8 && settings.limits.cooldownSeconds == 30)
        #expect(settings.webHook == "true", "a word takes the field's type")
        let origins = reading.settings.map { "\($0.path) \($0.origin)" }
        #expect(origins.contains("codeLength --set"))
        #expect(origins.contains("isStrict \(folder.path)/fusion.toml, line 4"))
        #expect(
            origins.contains(
                "limits.cooldownSeconds $FUSION_SMSCODE_LIMITS_COOLDOWN_SECONDS"))
        #expect(origins.contains("apiKey default"))
    }

    @Test("every fault is told at once, by name and place, and a wrong secret is not shown")
    func faults() {
        let toml = """
            [smscode]
            codeLenght = 7
            share = "half"
            isStrict = 1
            policy = "oldest"
            apiKey = 31337
            [smscode.limits]
            sendsPerHourMax = 1.5
            nope = true
            [[smscode.providers]]
            name = "a"
            port = 70000
            pasword = "x"
            """
        let file = folder.path + "/fusion.toml"
        #expect(
            read(
                toml, ["FUSION_SMSCODE_FOOBAR": "1", "FUSION_SMSCODE_CODE_LENGHT": "7"]
            ).problems == [
                "$FUSION_SMSCODE_CODE_LENGHT names no setting;"
                    + " is $FUSION_SMSCODE_CODE_LENGTH meant?",
                "$FUSION_SMSCODE_FOOBAR names no setting",
                "smscode.share must be a number, not \"half\" (\(file), line 3)",
                "smscode.isStrict must be true or false, not 1 (\(file), line 4)",
                "smscode.policy must be one of newest, all, not \"oldest\" (\(file), line 5)",
                "smscode.limits.sendsPerHourMax must be a whole number, not 1.5 (\(file), line 8)",
                "smscode.providers[0].port must lie in 0…65535, not 70000 (\(file), line 12)",
                "smscode.apiKey is not of the right kind (\(file), line 6)",
                "smscode.codeLenght is no setting; is codeLength meant? (\(file), line 2)",
                "smscode.limits.nope is no setting (\(file), line 9)",
                "smscode.providers[0].pasword is no setting; is providers[0].password meant?"
                    + " (\(file), line 13)",
            ])
    }

    @Test("values that read well are judged together")
    func judged() {
        #expect(
            read("", [:], ["smscode.codeLength=12"]).problems
                == ["smscode.codeLength must lie in 4…10, not 12"])
    }

    @Test("lists and optional tables take their defaults, dictionaries are replaced")
    func structures() {
        let toml = """
            [smscode]
            providers = [{ name = "a", password = "p" }, { port = 8080 }]
            tls = { cooldownSeconds = 1 }
            [smscode.routes]
            1 = "b"
            44 = "c"
            """
        let reading = read(toml)
        #expect(reading.problems.isEmpty, "\(reading.problems)")
        let settings = reading.configuration
        #expect(settings.providers.map(\.name) == ["a", ""])
        #expect(settings.providers.map(\.port) == [80, 8080])
        #expect(settings.providers.first?.password?.reveal() == "p")
        #expect(settings.routes == ["1": "b", "44": "c"])
        #expect(settings.tls?.cooldownSeconds == 1 && settings.tls?.sendsPerHourMax == 5)
        let words = read(
            "", [:], ["smscode.providers=[{name = \"z\"}]", "smscode.routes={7=\"x\"}"])
        #expect(words.problems.isEmpty, "\(words.problems)")
        #expect(words.configuration.providers.map(\.name) == ["z"])
        #expect(words.configuration.routes == ["7": "x"])
        #expect(
            read("", [:], ["smscode.providers=[{"]).problems
                == ["smscode.providers must be a list or table as TOML writes it (--set)"])
    }

    @Test("secrets are masked wherever settings are shown, also inside lists")
    func secrets() {
        let toml = """
            [smscode]
            apiKey = "visible-key"
            providers = [{ name = "a", password = "visible-word" }]
            """
        let shown = read(toml, ["FUSION_SMSCODE_API_KEY": "visible-variable"]).settings
        #expect(!"\(shown)".contains("visible") && !"\(shown)".contains("built-in"))
        #expect(shown.contains { $0.path == "apiKey" && $0.value == "\"<secret>\"" && !$0.isLimit })
        #expect(shown.map(\.path).filter { $0.hasPrefix("limits") }.count == 2)
        #expect(shown.contains { $0.path == "webHook" && $0.value == "(none)" })
    }

    @Test("a file that is no TOML, absent or mistaken in a section says so with its place")
    func files() {
        let file = folder.path + "/fusion.toml"
        #expect(source("a = = 1").problems.first?.hasPrefix("\(file): line 1, column 5:") == true)
        #expect(
            source("[smcode]\na = 1\n[smscode]").problems
                == ["smcode is no section; is smscode meant? (\(file), line 1)"])
        let absent = ConfigurationSource(file: folder.path + "/no.toml", isFileRequired: true)
        #expect(absent.problems == ["\(folder.path)/no.toml: No such file or directory"])
        #expect(read("smscode = 3").problems == ["smscode: must be a table"])
        #expect(
            source("", [:], ["codeLength=3", "smscode.x"]).problems == [
                "--set codeLength: write it as section.field=value",
                "--set smscode.x: write it as section.field=value",
            ])
    }

    @Test("production is false unless some layer says true, and a mistake closes")
    func production() {
        #expect(source("production = true").isProduction)
        #expect(!source("production = true", ["FUSION_PRODUCTION": "false"]).isProduction)
        #expect(source("", ["FUSION_PRODUCTION": "false"], ["production=true"]).isProduction)
        let mistaken = source("production = \"yes\"")
        #expect(mistaken.isProduction && mistaken.problems.count == 1)
    }

    @Test("no cut or garbled document stops the reading")
    func garbled() {
        let toml = Array("[smscode]\ncodeLength = 7 # é\nproviders = [{ name = \"a\" }]\n".utf8)
        for count in 0...toml.count {
            _ = read(String(decoding: toml.prefix(count), as: UTF8.self))
        }
        for place in toml.indices {
            for byte: UInt8 in [0, 34, 61, 91, 93, 123, 255] {
                var changed = toml
                changed[place] = byte
                _ = read(String(decoding: changed, as: UTF8.self))
            }
        }
    }
}
