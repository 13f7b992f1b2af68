import Messages
import Primitives
import Testing

@testable import TokenService

@Suite("Review of policies")
struct PolicyReviewTests {
    private let now = WallTime(millisecondsSince1970: 1_800_000_000_000)

    /// The fields at fault.
    private func fields(
        _ policy: SchemePolicy, previous: SchemePolicy? = nil, app: AppIdentity = exampleApp
    ) -> [String] {
        PolicyReview(app: app, policy: policy, previous: previous, now: now).findings.map(\.field)
    }

    private func texts(_ policy: SchemePolicy) -> String {
        PolicyReview(app: exampleApp, policy: policy, previous: nil, now: now).findings
            .map(\.text).joined(separator: "\n")
    }

    @Test("the standard policy and the edge's four digits are fine")
    func standard() {
        #expect(fields(.standard).isEmpty)
        #expect(fields(SchemePolicy(codeLength: 4, duplicatePolicy: .all)).isEmpty)
    }

    @Test("charges are ⌊10⁻³ × alphabet^length⌋ over what a comparison tells apart")
    func charges() {
        func charges(_ length: Int, _ type: Int, _ caseSensitive: Bool = false) -> Int {
            CodeSpace(length: length, type: type, caseSensitive: caseSensitive).chargesMax
        }
        #expect(charges(4, 1) == 10)
        #expect(charges(6, 1) == 1_000)
        #expect(charges(4, 2) == 456)
        #expect(charges(4, 4) == 456)
        #expect(charges(4, 4, true) == 7_311)
        #expect(charges(4, 7) == 1_679)
        #expect(charges(4, 7, true) == 14_776)
        #expect(charges(3, 1) == 1)
        #expect(charges(2, 1) == 0)
        #expect(charges(0, 1) == 0 && charges(-1, 1) == 0)
        #expect(charges(40, 7, true) > 0)
    }

    @Test("codes alive together: one, or with policy all what the cool-down lets through")
    func liveCodes() {
        func live(_ policy: DuplicatePolicy, _ lifetime: Int64, _ cooldown: Int64) -> Int {
            CodeSpace.liveCodes(policy, lifetimeSeconds: lifetime, cooldownSeconds: cooldown)
        }
        #expect(live(.newest, 600, 1) == 1)
        #expect(live(.same, 600, 1) == 1)
        #expect(live(.all, 300, 300) == 1)
        #expect(live(.all, 301, 300) == 2)
        #expect(live(.all, 300, 60) == 5)
        #expect(live(.all, 600, 1) == 5)
        #expect(live(.all, 0, 0) == 1)
    }

    @Test("what leaves no guess is refused with the arithmetic")
    func arithmetic() {
        #expect(fields(SchemePolicy(codeLength: 2)) == ["policy.codeLength"])
        #expect(
            texts(SchemePolicy(codeLength: 3, cooldownSeconds: 1, duplicatePolicy: .all))
                == """
                3 characters out of 10 allow ⌊10⁻³ × 10^3⌋ = 1 charges in 24 hours, and one \
                wrong guess costs 5
                """)
        #expect(texts(SchemePolicy(codeLength: 3)) == "must lie in 4…10")
        #expect(texts(SchemePolicy(codeLength: 11)) == "must lie in 4…10")
    }

    @Test("lengths, kinds and spans have ranges, in templates too")
    func ranges() {
        #expect(fields(SchemePolicy(codeType: 0)) == ["policy.codeType"])
        #expect(fields(SchemePolicy(codeType: 8)) == ["policy.codeType"])
        #expect(fields(SchemePolicy(codeLifetimeSeconds: 59)) == ["policy.codeLifetimeSeconds"])
        #expect(fields(SchemePolicy(codeLifetimeSeconds: 601)) == ["policy.codeLifetimeSeconds"])
        #expect(fields(SchemePolicy(cooldownSeconds: 0)) == ["policy.cooldownSeconds"])
        #expect(
            texts(
                SchemePolicy(
                    duplicatePolicy: .all,
                    templates: [TemplatePolicy(templateId: "100001", codeLength: 3)])
            ).contains("3 characters out of 10 allow ⌊10⁻³ × 10^3⌋ = 1 charges"))
    }

    @Test("templates and their nodes pass the scene lint, each template once")
    func templates() {
        func texts(_ template: TemplatePolicy) -> String {
            self.texts(SchemePolicy(templates: [template]))
        }
        #expect(texts(TemplatePolicy(templateId: "100001")).isEmpty)
        #expect(texts(TemplatePolicy(templateId: "900001")).contains("no such template"))
        #expect(
            texts(TemplatePolicy(templateId: "100001", codeLifetimeSeconds: 601))
                .contains("codeLifetimeSeconds: must lie in 60…600"))
        let stray = NodePolicy(nodeId: "300000100001999", enabled: false)
        #expect(
            texts(TemplatePolicy(templateId: "100001", nodes: [stray])).contains("no such node"))
        let twice = [TemplatePolicy(templateId: "100001"), TemplatePolicy(templateId: "100001")]
        #expect(fields(SchemePolicy(templates: twice)) == ["policy.templates[1]"])
    }

    @Test("a graph of the scheme's own is linted, and its nodes' codes are counted")
    func ownGraph() throws {
        let standard = try #require(StandardScenes.graph("100001"))
        let own = SceneGraph(
            templateId: "900001", name: "own", begin: "300000900001001",
            nodes: [
                SceneNode(
                    nodeId: "300000900001001", kind: .smsCode, success: ["END"], failure: ["END"],
                    settings: NodeSettings(codeLength: 3))
            ])
        let policy = SchemePolicy(
            duplicatePolicy: .all,
            wordings: [MessageWording(templateId: "900001", locale: "en", body: "${code} it is")],
            templates: [
                TemplatePolicy(templateId: "100001", graph: standard),
                TemplatePolicy(templateId: "900001", graph: own),
            ])
        #expect(
            fields(policy) == [
                "policy.templates[1]", "policy.templates[1].graph.nodes[0].settings.codeLength",
            ])
        let dead = SceneGraph(templateId: "900001", name: "own", begin: "x", nodes: [])
        #expect(
            fields(SchemePolicy(templates: [TemplatePolicy(templateId: "900001", graph: dead)]))
                .first == "policy.templates[0]")
    }

    @Test("F101 an app hash has 11 characters, and the message with it 140 bytes at most")
    func appHash() {
        #expect(fields(SchemePolicy(androidAppHash: "FA+9qCX9VS")) == ["policy.androidAppHash"])
        #expect(fields(SchemePolicy(androidAppHash: "FA+9qCX9VSu")).isEmpty)
        #expect(fields(SchemePolicy(androidAppHash: "FA+9qCX9VS=")) == ["policy.androidAppHash"])
        func wording(_ bytes: Int) -> SchemePolicy {
            let body = "${code} " + String(repeating: "a", count: bytes - 7)
            return SchemePolicy(
                signature: "Acme", androidAppHash: "FA+9qCX9VSu",
                wordings: [MessageWording(templateId: "100001", locale: "en", body: body)])
        }
        // `[Acme] ` 7, a line end and the hash 12: 121 are left.
        #expect(fields(wording(121)).isEmpty)
        #expect(fields(wording(122)) == ["policy.wordings[0].body"])
        #expect(texts(wording(131)).contains("comes to 150 bytes"))
    }

    @Test(
        "F096 a wording holds the code once and says something beside it",
        arguments: [
            "", "no code", "${code} ${code}", "${code}", " ${code} \n", "${Code} is it",
            "${code} at https://example.com", "${code} for ${name}", "${code}\u{7} rings",
        ])
    func wordings(_ body: String) {
        let wording = MessageWording(templateId: "100001", locale: "en", body: body)
        #expect(fields(SchemePolicy(wordings: [wording])).first == "policy.wordings[0].body")
    }

    @Test("wordings belong to a template and a locale, once; the edge may have values of its own")
    func wordingPlaces() {
        func fields(_ template: String, _ locale: String, _ body: String) -> [String] {
            let wording = MessageWording(templateId: template, locale: locale, body: body)
            return self.fields(SchemePolicy(wordings: [wording]))
        }
        #expect(fields("100001", "en", "Code ${code}, good for ${min} minutes").isEmpty)
        #expect(fields("api", "zh", "${name} 的验证码 ${code}").isEmpty)
        #expect(fields("100009", "en", "${code} it is") == ["policy.wordings[0].templateId"])
        #expect(fields("100001", "EN", "${code} it is") == ["policy.wordings[0].locale"])
        let same = MessageWording(templateId: "100001", locale: "en", body: "${code} it is")
        #expect(
            self.fields(SchemePolicy(wordings: [same, same])) == ["policy.wordings[1]"])
    }

    @Test("F097 several parts are told when a wording is saved, with the character that costs them")
    func parts() {
        func warnings(_ body: String) -> [String] {
            let wording = MessageWording(templateId: "100001", locale: "en", body: body)
            return PolicyReview(
                app: exampleApp, policy: SchemePolicy(wordings: [wording]), previous: nil, now: now
            ).warnings
        }
        // `${code}` becomes six digits: 155 characters.
        let plain = "${code}" + String(repeating: "a", count: 148) + "'"
        #expect(warnings(plain).isEmpty)
        let curly = "${code}" + String(repeating: "a", count: 148) + "’"
        #expect(
            warnings(curly) == [
                "policy.wordings[0] goes out in 3 parts: ’ (U+2019) is outside the GSM alphabet"
            ])
        let long = "${code}" + String(repeating: "a", count: 155)
        #expect(warnings(long) == ["policy.wordings[0] goes out in 2 parts"])
        #expect(MessageParts(String(repeating: "€", count: 80)).count == 1)
        #expect(MessageParts(String(repeating: "€", count: 81)).count == 2)
        #expect(MessageParts("Código: 1 ✅").outsider == "ó")
        #expect(MessageParts(String(repeating: "码", count: 71)).count == 2)
    }

    @Test(
        "F164 a test number ends, within a year, and not in the past unless it stood there before")
    func testNumberEnds() {
        func policy(_ end: WallTime) -> SchemePolicy {
            SchemePolicy(testNumbers: [
                TestNumber(
                    number: "+14155550100", code: "123456",
                    endsAtMilliseconds: end.millisecondsSince1970)
            ])
        }
        let field = "policy.testNumbers[0].endsAtMilliseconds"
        #expect(fields(policy(now + .seconds(3600))).isEmpty)
        #expect(fields(policy(now)) == [field])
        #expect(fields(policy(WallTime(millisecondsSince1970: 1_800_000_000))) == [field])
        #expect(fields(policy(now + .seconds(367 * 24 * 3600))) == [field])
        #expect(fields(policy(now - .seconds(1)), previous: policy(now - .seconds(1))).isEmpty)
    }

    @Test(
        "F166 a pattern of test numbers is narrow",
        arguments: [
            ("+1415555xxxx", true), ("+14155550100", true), ("+8613x00000xx0", true),
            ("+141555xxxxx", false), ("+xxxxxxxxxxx", false), ("+1xxx5550100", false),
            ("14155550100", false), ("+1415555****", false), ("+141555", false),
            ("+0415555xxxx", false), ("+1415555XXXX", false), ("+1415555xxxx9999999", false),
        ])
    func patterns(_ number: String, _ isFine: Bool) {
        let entry = TestNumber(
            number: number, code: "123456",
            endsAtMilliseconds: (now + .seconds(60)).millisecondsSince1970)
        #expect(fields(SchemePolicy(testNumbers: [entry])).isEmpty == isFine)
    }

    @Test(
        "test codes, regions, locales, hosts and signatures have a form",
        arguments: [
            (SchemePolicy(defaultRegion: "cn"), "policy.defaultRegion"),
            (SchemePolicy(defaultRegion: "CHN"), "policy.defaultRegion"),
            (SchemePolicy(locale: "e"), "policy.locale"),
            (SchemePolicy(locale: "en-"), "policy.locale"),
            (SchemePolicy(webOTPHost: "https://example.com"), "policy.webOTPHost"),
            (SchemePolicy(webOTPHost: "example.com:443"), "policy.webOTPHost"),
            (SchemePolicy(webOTPHost: "Example.com"), "policy.webOTPHost"),
            (SchemePolicy(webOTPHost: "-a.com"), "policy.webOTPHost"),
            (SchemePolicy(webOTPHost: "a..com"), "policy.webOTPHost"),
            (SchemePolicy(signature: ""), "policy.signature"),
            (SchemePolicy(signature: "a]b"), "policy.signature"),
            (SchemePolicy(signature: "a\nb"), "policy.signature"),
            (SchemePolicy(signatures: ["ok", "[x]"]), "policy.signatures[1]"),
        ])
    func forms(_ policy: SchemePolicy, _ field: String) {
        #expect(fields(policy) == [field])
    }

    @Test("forms that are fine")
    func goodForms() {
        #expect(
            fields(
                SchemePolicy(
                    signature: "速通互联验证码", signatures: ["Acme", "阿里云"], locale: "zh-Hant",
                    defaultRegion: "CN", webOTPHost: "login.example.com")
            ).isEmpty)
    }

    @Test("an answer names the first faults and counts the rest")
    func manyFaults() throws {
        let policy = SchemePolicy(signatures: Array(repeating: "", count: 20))
        let review = PolicyReview(app: exampleApp, policy: policy, previous: nil, now: now)
        let failure = #expect(throws: ServiceFailure.self) {
            try review.refuse(policyBytesCount: 10)
        }
        #expect(failure?.message.hasSuffix("; and 12 more") == true)
        let large = #expect(throws: ServiceFailure.self) {
            try PolicyReview(app: exampleApp, policy: .standard, previous: nil, now: now)
                .refuse(policyBytesCount: PolicyReview.policyBytesMax + 1)
        }
        #expect(large?.code == .policyRefused)
    }

    @Test(
        "apps have a form on each platform",
        arguments: [
            (AppIdentity(iosBundleId: "com example"), "app.iosBundleId"),
            (AppIdentity(iosBundleId: ""), "app.iosBundleId"),
            (
                AppIdentity(androidPackageName: "a", androidPackageSign: "zz"),
                "app.androidPackageSign"
            ),
            (
                AppIdentity(androidPackageSign: String(repeating: "a", count: 32)),
                "app.androidPackageName"
            ), (AppIdentity(webOrigin: "http://example.com"), "app.webOrigin"),
            (AppIdentity(webOrigin: "https://example.com/"), "app.webOrigin"),
            (AppIdentity(webOrigin: "https://example.com:0443"), "app.webOrigin"),
            (AppIdentity(webOrigin: "https://example.com:65536"), "app.webOrigin"),
            (AppIdentity(webOrigin: "https://user@example.com"), "app.webOrigin"),
            (AppIdentity(webOrigin: "https://"), "app.webOrigin"),
        ])
    func apps(_ app: AppIdentity, _ field: String) {
        #expect(AppReview(app: app).findings.map(\.field) == [field])
    }

    @Test("what is wrong with an app is said in words that fit every caller's name of the field")
    func appSentence() {
        let refused = #expect(throws: ServiceFailure.self) {
            try PolicyReview(
                app: AppIdentity(iosBundleId: "", webOrigin: "x"), policy: .standard, previous: nil,
                now: now
            ).refuse(policyBytesCount: 1)
        }
        #expect(refused?.field == "app.iosBundleId")
        #expect(refused?.message.contains("app.") == false)
        #expect(refused?.message.contains("a web origin is https://host") == true)
    }

    @Test(
        "origins that are fine", arguments: ["https://example.com:8443", "http://localhost:8080"])
    func origins(_ origin: String) {
        #expect(AppReview(app: AppIdentity(webOrigin: origin)).findings.isEmpty)
    }
}
