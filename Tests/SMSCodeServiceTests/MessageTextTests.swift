import Messages
import Primitives
import Testing

@testable import SMSCodeService

@Suite("texts")
struct MessageTextTests {
    private func compose(
        _ request: MessageTextRequest? = nil, template: String = "100001", locale: String = "en",
        policy: SchemePolicy = SchemePolicy(signature: "Shop"), appHash: String? = nil,
        host: String? = nil
    ) throws -> String {
        let text = try MessageComposer(
            scheme: Scheme(
                schemeCode: "FA", version: 1, name: "s", owner: "o", app: AppIdentity(),
                policy: policy, disabled: false, createdAtMilliseconds: 0,
                updatedAtMilliseconds: 0),
            templateID: template, locale: locale, lifetime: .seconds(300), codeLength: 6,
            appHash: appHash, webOTPHost: host
        ).compose(request)
        return text.text(code: Secret("012345")).reveal()
    }

    @Test("F067 F096 every standard text tells the code and its life, in both languages")
    func standard() throws {
        for template in ["100001", "100002", "100003", "100004", "100005", "api"] {
            let english = try compose(template: template, appHash: "FA+9qCX9VSu")
            #expect(english.hasPrefix("[Shop] 012345 is your code"))
            #expect(english.contains("5 min") && english.hasSuffix("\nFA+9qCX9VSu"))
            let chinese = try compose(
                template: template, locale: "zh-CN", appHash: "FA+9qCX9VSu")
            #expect(chinese.hasPrefix("【Shop】验证码012345，") && chinese.contains("5分钟"))
            #expect(english.utf8.count <= 140 && chinese.utf8.count <= 140)
        }
    }

    @Test("F101 hash and host end the text, and the text fits what handsets read")
    func lastLine() throws {
        #expect(try compose(host: "shop.example").hasSuffix("\n@shop.example #012345"))
        let long = MessageTextRequest(body: String(repeating: "x", count: 140) + "##code##")
        #expect(throws: ServiceFailure.self) { try compose(long, appHash: "FA+9qCX9VSu") }
        #expect(throws: ServiceFailure.self) { try compose(long, host: "shop.example") }
        #expect(try compose(long).utf8.count == 153)
        #expect(throws: ServiceFailure.self) { try compose(appHash: "FA+9qCX9VS") }
        #expect(throws: ServiceFailure.self) { try compose(appHash: "FA+9qCX9VS ") }
        #expect(throws: ServiceFailure.self) { try compose(host: "shop example") }
        #expect(throws: ServiceFailure.self) {
            try compose(appHash: "FA+9qCX9VSu", host: "shop.example")
        }
    }

    @Test("own wordings: both marks of the code, parameters, and what has no value stays")
    func wordings() throws {
        let both = ["${code} or so", "##code## or so"]
        for body in both {
            #expect(try compose(MessageTextRequest(body: body)) == "[Shop] 012345 or so")
        }
        let api = MessageTextRequest(
            templateCode: "100001", parameters: ["code": "##code##", "min": "7"])
        #expect(try compose(api).contains("012345") && compose(api).contains("7 min"))
        let named = MessageTextRequest(
            body: "Hi ${name}, ${code}, ${gap}", parameters: ["name": "Ada"])
        #expect(try compose(named) == "[Shop] Hi Ada, 012345, ${gap}")
        let policy = SchemePolicy(wordings: [
            MessageWording(templateId: "100001", locale: "de", body: "Code ${code}, ${min} Min."),
            MessageWording(templateId: "900001", locale: "en", body: "Own ${code}"),
        ])
        #expect(try compose(locale: "de-AT", policy: policy) == "Code 012345, 5 Min.")
        #expect(try compose(template: "900001", locale: "fr", policy: policy) == "Own 012345")
    }

    @Test("a literal code is sent, is no derived one, and cannot stand beside one")
    func literal() throws {
        let literal = MessageTextRequest(body: "PIN ${code}", parameters: ["code": "4321"])
        #expect(try compose(literal) == "[Shop] PIN 4321")
        #expect(try compose(MessageTextRequest(body: "Sale is over")) == "[Shop] Sale is over")
        let both = MessageTextRequest(
            body: "PIN ${code} ##code##", parameters: ["code": "4321"])
        #expect(throws: ServiceFailure.self) { try compose(both) }
    }

    @Test(
        "F099 links, control characters and over-long values are not sent",
        arguments: ["Buy now http://x ##code##", "www.x.example ##code##", "a\u{0}b", "a\u{1b}[1m"])
    func refused(body: String) {
        #expect(throws: ServiceFailure.self) { try compose(MessageTextRequest(body: body)) }
        #expect(throws: ServiceFailure.self) {
            try compose(MessageTextRequest(body: "${a}", parameters: ["a": body]))
        }
    }

    @Test(
        "F099 what a handset would make a link of is none the less a link",
        arguments: [
            "##code## evil.com/a", "bit.ly/x ##code##", "ftp://evil ##code##", "a://b",
            "ht\u{200b}tps://evil ##code##", "ｈｔｔｐｓ：／／evil ##code##", "ｅｖｉｌ．ｃｏｍ", "evil。com",
            "evil｡com 1", "EVIL.COM", "evil.com.", "(evil.com)", "evil.com:80", "evil.com?x=1",
            "x@evil.com", "\u{1d41e}vil.\u{1d41c}om", "ⓔvil.ⓒom", "evil\u{2024}com",
            "evil.\u{34f}com", "evil.рф", "例子.中国", "xn--fsq.xn--fiqs8s", "163.com",
            "##code##.evil.com", "http:evil", "www.evil", "go to 192.0.2.1/x", "192.0.2.1",
            "##code##\n@evil.com #1", "##code##\n@evil #1", "##code##\n ＠evil #1",
            "\u{202e}moc live ##code##", "a\u{200d}b", "a\u{feff}b", "a\u{2028}b", "a\u{85}b",
            "a\u{ad}b", "a\u{e0041}b", "a\rb",
        ])
    func disguised(body: String) {
        #expect(throws: ServiceFailure.self) { try compose(MessageTextRequest(body: body)) }
    }

    @Test(
        "sentences are none",
        arguments: [
            "123456 is your code. Do not share", "##code## is your code. It lives 5 min.",
            "Shop: ##code##. Bye", "Code ##code##, e.g. for the app; 1.5 h, v2.0, 12.50 EUR.",
            "您的验证码是##code##，5分钟内有效。请勿泄露。谢谢", "验证码123456。请勿泄露给他人", "認証コードは##code##です。他人に教えないで",
            "Код ##code##. Никому не говорите", "کد شما ##code## می\u{200c}باشد",
            "👩\u{200d}💻 ##code##",
            "U.S. bank: ##code## (a.m./p.m.)", "Mail to me @ home: ##code##",
            "10:30, 3/4: ##code##",
        ])
    func sentences(body: String) throws {
        _ = try compose(MessageTextRequest(body: body))
    }

    @Test("values that make a link together are refused; a wording's own link is its owner's word")
    func together() throws {
        let parts = MessageTextRequest(
            body: "${a}${b} ##code##", parameters: ["a": "evil.", "b": "com"])
        #expect(throws: ServiceFailure.self) { try compose(parts) }
        let literal = MessageTextRequest(body: "${code}.com", parameters: ["code": "evil"])
        #expect(throws: ServiceFailure.self) { try compose(literal) }
        let own = SchemePolicy(wordings: [
            MessageWording(templateId: "100001", locale: "en", body: "${code} for shop.example")
        ])
        let usual = MessageTextRequest(parameters: ["code": "##code##", "min": "5"])
        #expect(try compose(usual, policy: own) == "012345 for shop.example")
        #expect(throws: ServiceFailure.self) {
            try compose(
                MessageTextRequest(parameters: ["a": "evil.", "b": "com"]),
                policy: SchemePolicy(wordings: [
                    MessageWording(templateId: "100001", locale: "en", body: "${a}${b} ${code}")
                ]))
        }
    }

    @Test(
        "a signature of the caller's is a name: no link, line end, bracket or format character",
        arguments: [
            "evil.com/x", "a\nb", "】【", "a]b", "［a", "a\u{202e}b", "@evil", "a\u{200b}b",
            "evil.com",
        ])
    func freeSignatures(_ signature: String) throws {
        let request = MessageTextRequest(signature: signature)
        #expect(throws: ServiceFailure.self) { try compose(request) }
        let listed = SchemePolicy(signatures: ["shop.example"])
        #expect(
            try compose(MessageTextRequest(signature: "shop.example"), policy: listed)
                .hasPrefix("[shop.example] "))
    }

    @Test("a signature must be the scheme's where it lists them")
    func signatures() throws {
        let open = MessageTextRequest(signature: "Other")
        #expect(try compose(open).hasPrefix("[Other] "))
        let policy = SchemePolicy(signature: "Shop", signatures: ["Shop"])
        #expect(throws: ServiceFailure.self) { try compose(open, policy: policy) }
    }
}
