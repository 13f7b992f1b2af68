import Effects
import Messages
import Primitives
import Storage
import TestKit
import Testing

@testable import SMSCodeService

private func at(_ seconds: Int64) -> WallTime { WallTime(millisecondsSince1970: seconds * 1000) }

@Suite("typed codes")
struct TypedCodeTests {
    @Test(
        "F082 digits of any script, spaces and dashes between are the same code",
        arguments: [
            "123456", "١٢٣٤٥٦", "۱۲۳۴۵۶", "１２３４５６", "123 456", "123-456", " 123456 ",
            "12\u{200e}3456",
        ])
    func sameCode(text: String) throws {
        #expect(try TypedCode(text).comparable(caseSensitive: true) == Array("123456".utf8))
    }

    @Test(
        "F087 signs, points and other marks are refused",
        arguments: ["+12345", "-00001", "1.5", "1e+5", "", "  ", "12345-", "12_45", "0x12\u{0}4"])
    func refused(text: String) {
        #expect(throws: ServiceFailure.self) { try TypedCode(text) }
    }

    @Test("F084 F086 leading zeros count, and nothing is parsed as a number")
    func text() throws {
        #expect(try TypedCode("012345").comparable(caseSensitive: true) == Array("012345".utf8))
        #expect(try TypedCode("010101").comparable(caseSensitive: true) == Array("010101".utf8))
        #expect(try TypedCode("0x1234").comparable(caseSensitive: true) == Array("0x1234".utf8))
    }

    @Test("case is folded unless the policy demands it")
    func folding() throws {
        #expect(try TypedCode("aBＣ9").comparable(caseSensitive: false) == Array("ABC9".utf8))
        #expect(try TypedCode("aBＣ9").comparable(caseSensitive: true) == Array("aBC9".utf8))
    }
}

@Suite("alphabets")
struct CodeAlphabetTests {
    @Test("the bound is the code space through a thousand, rounded down")
    func bounds() {
        #expect(CodeAlphabet.digits.chargesMax(length: 4, caseSensitive: false) == 10)
        #expect(CodeAlphabet.digits.chargesMax(length: 5, caseSensitive: false) == 100)
        #expect(CodeAlphabet.digits.chargesMax(length: 6, caseSensitive: true) == 1000)
        #expect(CodeAlphabet.upper.chargesMax(length: 4, caseSensitive: false) == 456)
        #expect(
            CodeAlphabet.upperAndLower.chargesMax(length: 4, caseSensitive: false) == 456)
        #expect(
            CodeAlphabet.all.chargesMax(length: 4, caseSensitive: true) == 62 * 62 * 62 * 62 / 1000)
    }

    @Test("seven types, without a doubled character")
    func types() {
        #expect(CodeAlphabet.allCases.map(\.characters.count) == [10, 26, 26, 52, 36, 36, 62])
        for alphabet in CodeAlphabet.allCases {
            #expect(Set(alphabet.characters).count == alphabet.characters.count)
        }
    }
}

@Suite("guess window")
struct GuessWindowTests {
    private let limits = GuessWindow.Limits(hourMax: 5, dayMax: 20)

    private func verdict(
        _ window: GuessWindow, _ now: WallTime, charges: Int = 1, bound: Int = 1000
    ) -> GuessWindow.Verdict {
        window.verdict(now, charges: charges, chargesMax: bound, limits)
    }

    @Test("five per rolling hour, then exhausted until the first is an hour old")
    func hour() {
        var window = GuessWindow(key: "k", at: at(0))
        for second in 0..<5 {
            #expect(verdict(window, at(Int64(second))) == .open(guessesLeft: 5 - second))
            window.count(at(Int64(second)), charges: 1, chargesMax: 1000)
        }
        #expect(verdict(window, at(10)) == .exhausted(until: at(3600)))
        #expect(verdict(window, at(3599)) == .exhausted(until: at(3600)))
        #expect(verdict(window, at(3600)) == .open(guessesLeft: 1))
    }

    @Test("twenty per rolling 24 hours")
    func day() {
        var window = GuessWindow(key: "k", at: at(0))
        for hour in 0..<4 {
            for guess in 0..<5 {
                window.count(at(Int64(hour * 3700 + guess)), charges: 1, chargesMax: 1000)
            }
        }
        #expect(verdict(window, at(20_000)) == .exhausted(until: at(86_400)))
        #expect(verdict(window, at(86_400)) == .open(guessesLeft: 1))
        #expect(window.wrong.count == 20)
    }

    @Test("four digits take ten charges in 24 hours, whatever was sent afterwards")
    func charges() {
        var window = GuessWindow(key: "k", at: at(0))
        for guess in 0..<5 { window.count(at(Int64(guess)), charges: 1, chargesMax: 10) }
        for guess in 0..<5 { window.count(at(Int64(4000 + guess)), charges: 1, chargesMax: 10) }
        #expect(verdict(window, at(9000), bound: 10) == .exhausted(until: at(86_400)))
        // A longer code does not undo what was guessed at a shorter one: nine are left of ten then.
        #expect(verdict(window, at(9000), bound: 1000) == .exhausted(until: at(86_400)))
    }

    @Test("a guess is charged once per live code, and never evaluated beyond the bound")
    func liveCodes() {
        var window = GuessWindow(key: "k", at: at(0))
        for guess in 0..<3 {
            #expect(
                verdict(window, at(Int64(guess)), charges: 3, bound: 10) != .exhausted(until: at(0))
            )
            window.count(at(Int64(guess)), charges: 3, chargesMax: 10)
        }
        #expect(verdict(window, at(5), charges: 3, bound: 10) == .exhausted(until: at(86_400)))
        #expect(verdict(window, at(5), charges: 1, bound: 10) == .open(guessesLeft: 1))
    }

    @Test("a clock that jumps back frees nothing and counts nothing twice")
    func clock() {
        var window = GuessWindow(key: "k", at: at(0))
        for _ in 0..<5 { window.count(at(10_000), charges: 1, chargesMax: 1000) }
        #expect(verdict(window, at(0)) == .exhausted(until: at(13_600)))
        window.count(at(5), charges: 1, chargesMax: 1000)
        #expect(window.wrong.last?.at == at(10_000))
    }

    @Test("F114 a limit of 0 allows none")
    func zero() {
        let window = GuessWindow(key: "k", at: at(0))
        let none = GuessWindow.Limits(hourMax: 0, dayMax: 20)
        let verdict = window.verdict(at(0), charges: 1, chargesMax: 1000, none)
        #expect(verdict == .exhausted(until: at(86_400)))
    }
}

@Suite("send window")
struct SendWindowTests {
    private let limits = [
        SendWindow.Limit(name: "hour", countMax: 5, span: .seconds(3600)),
        SendWindow.Limit(name: "day", countMax: 10, span: .seconds(86_400)),
    ]

    private func count(_ window: inout SendWindow, _ second: Int64) {
        window.count(at(second), keeping: .seconds(86_400), countMax: 10, instance: "a")
    }

    private func verdict(_ window: SendWindow, _ second: Int64, instance: String = "a")
        -> SendWindow.Verdict
    {
        window.verdict(at(second), cooldown: .seconds(60), limits, instance: instance)
    }

    @Test("the cool-down holds to the second for the instance that sent")
    func cooldown() {
        var window = SendWindow(key: "k", at: at(0))
        #expect(verdict(window, 0) == .open)
        count(&window, 0)
        #expect(verdict(window, 59) == .coolingDown(until: at(60)))
        #expect(verdict(window, 60) == .open)
    }

    @Test("F061 an instance whose clock is two seconds behind keeps the told moment")
    func skew() {
        var window = SendWindow(key: "k", at: at(0))
        count(&window, 0)
        #expect(verdict(window, 58, instance: "b") == .open)
        #expect(verdict(window, 57, instance: "b") == .coolingDown(until: at(60)))
    }

    @Test("F064 F106 five per rolling hour, ten per 24 hours, and the wait")
    func windows() {
        var window = SendWindow(key: "k", at: at(0))
        for send in 0..<5 {
            #expect(verdict(window, Int64(send) * 60) == .open)
            count(&window, Int64(send) * 60)
            #expect(window.sendsLeft(limits) == 4 - send)
        }
        #expect(verdict(window, 300) == .full(limits[0], until: at(3600)))
        for send in 0..<5 { count(&window, 3600 + Int64(send) * 60) }
        #expect(verdict(window, 20_000) == .full(limits[1], until: at(86_400)))
        #expect(window.reopening(limits) == at(86_400))
    }

    @Test("a send that a provider refused is given back")
    func giveBack() {
        var window = SendWindow(key: "k", at: at(0))
        count(&window, 0)
        count(&window, 60)
        window.giveBack(at(60))
        #expect(verdict(window, 61) == .open)
        #expect(window.sends == [at(0)])
    }

    @Test("F114 a limit of 0 allows none, and a clock that jumps back grants nothing")
    func edges() {
        let none = SendWindow.Limit(name: "hour", countMax: 0, span: .seconds(3600))
        var window = SendWindow(key: "k", at: at(100))
        #expect(
            window.verdict(at(100), cooldown: .zero, [none], instance: "a")
                == .full(none, until: nil))
        count(&window, 100)
        #expect(verdict(window, 0) == .coolingDown(until: at(160)))
    }
}

@Suite("challenge")
struct CodeChallengeTests {
    private func challenge() -> CodeChallenge {
        CodeChallenge(
            id: ChallengeID(random: Array(0..<16)), schemeCode: "FA", owner: "shop",
            purpose: "login", runID: nil, slot: "s", holder: "h", number: .init([]),
            caseSensitive: false, at: at(0))
    }

    private func send(
        _ challenge: inout CodeChallenge, _ second: Int64, _ policy: DuplicatePolicy,
        length: Int = 6
    ) -> IssuedCode {
        challenge.send(
            CodeChallenge.Order(
                policy: policy, length: length, alphabet: .digits, lifetime: .seconds(300),
                keyVersion: 1, fixed: nil),
            message: MessageID(random: Array(repeating: UInt8(second & 255), count: 16)),
            resendAt: at(second + 60), at: at(second))
    }

    @Test("newest: a resend puts a new code in the place of the old one")
    func newest() {
        var challenge = challenge()
        #expect(send(&challenge, 0, .newest).sequence == 0)
        #expect(send(&challenge, 60, .newest).sequence == 1)
        #expect(challenge.live(at: at(61)).map(\.sequence) == [1])
        #expect(challenge.sentCount == 2)
    }

    @Test("all: every code stays good for its own lifetime")
    func all() {
        var challenge = challenge()
        _ = send(&challenge, 0, .all)
        _ = send(&challenge, 60, .all)
        #expect(challenge.live(at: at(61)).map(\.sequence) == [0, 1])
        #expect(challenge.live(at: at(300)).map(\.sequence) == [1])
    }

    @Test("same: a resend repeats the live code, ten minutes at the latest")
    func same() {
        var challenge = challenge()
        _ = send(&challenge, 0, .same)
        #expect(send(&challenge, 60, .same).sequence == 0)
        #expect(challenge.expiresAt == at(360))
        #expect(send(&challenge, 350, .same).expiresAt == at(600))
        // What is left would be too short to type it.
        #expect(send(&challenge, 560, .same).sequence == 1)
        #expect(challenge.live(at: at(561)).map(\.sequence) == [1])
        // Another length is another code.
        #expect(send(&challenge, 620, .same, length: 4).sequence == 2)
    }

    @Test("a refused resend leaves the older code as good as it was")
    func withdraw() {
        var challenge = challenge()
        _ = send(&challenge, 0, .newest)
        _ = send(&challenge, 60, .newest)
        challenge.withdraw(1, wasNew: true, resendAt: at(61))
        #expect(challenge.live(at: at(62)).map(\.sequence) == [0])
        _ = send(&challenge, 70, .newest)
        #expect(challenge.live(at: at(71)).map(\.sequence) == [2])
    }

    @Test("nothing lives in an accepted or cancelled challenge, or after expiry, or in the past")
    func ends() {
        var first = challenge()
        _ = send(&first, 0, .newest)
        first.accept(at: at(10))
        #expect(first.live(at: at(11)).isEmpty)
        #expect(first.shown(at: at(11), isExhausted: true) == .accepted)
        var second = challenge()
        _ = send(&second, 0, .newest)
        #expect(second.shown(at: at(1), isExhausted: false) == .pending)
        #expect(second.shown(at: at(1), isExhausted: true) == .exhausted)
        #expect(second.shown(at: at(300), isExhausted: false) == .expired)
        let cancels = [second.cancel(at: at(20)), second.cancel(at: at(21))]
        #expect(cancels == [true, false])
        #expect(second.shown(at: at(22), isExhausted: false) == .cancelled)
    }
}

@Suite("addresses")
struct ClientAddressTests {
    @Test("an IPv6 address counts as its /64, an embedded IPv4 address as itself")
    func addresses() {
        #expect(ClientAddress("203.0.113.7")?.text == "203.0.113.7")
        #expect(
            ClientAddress("2001:db8:1:2:3:4:5:6")?.text == ClientAddress("2001:db8:1:2::9")?.text)
        #expect(ClientAddress("2001:db8:1:3::9")?.text != ClientAddress("2001:db8:1:2::9")?.text)
        #expect(ClientAddress("::ffff:203.0.113.7")?.text == "203.0.113.7")
        #expect(ClientAddress("fe80::1%eth0")?.isLoopback == false)
        #expect(ClientAddress("127.9.9.9")?.isLoopback == true)
        #expect(ClientAddress("::1")?.isLoopback == true)
        #expect(ClientAddress("::ffff:127.0.0.1")?.isLoopback == true)
    }

    @Test(
        "what is no address is none",
        arguments: ["", "1.2.3", "1.2.3.256", "1.2.3.4, 5.6.7.8", "12345::", ":::", "1:2:3", "x"])
    func refused(text: String) { #expect(ClientAddress(text) == nil) }
}

@Suite("messages")
struct SMSMessageTests {
    private func message() -> SMSMessage {
        SMSMessage(
            id: MessageID(random: Array(0..<16)), kind: .code, schemeCode: "FA", holder: "h",
            anybody: "a", number: .init([]), content: .init([]), usefulUntil: at(300), at: at(0))
    }

    @Test("F066 at most three calls in the first minute, none after the code died")
    func backoff() {
        var message = message()
        var calls: [Int64] = []
        var second: Int64 = 0
        while message.isOpen {
            message.take(at: at(second))
            calls.append(second)
            message.put(back: at(second), nextProvider: 0, isRoundOver: true, after: nil)
            second = message.dueAt.millisecondsSince1970 / 1000
        }
        #expect(calls == [0, 5, 20, 65, 125, 185, 245])
        #expect(message.state == .abandoned && message.reason == "too_late")
    }

    @Test("F066 a wait that the provider names is kept, the next provider is asked at once")
    func waits() {
        var message = message()
        message.take(at: at(0))
        message.put(back: at(0), nextProvider: 0, isRoundOver: true, after: .seconds(60))
        #expect(message.dueAt == at(60))
        message.take(at: at(60))
        message.put(back: at(60), nextProvider: 1, isRoundOver: false, after: .seconds(60))
        #expect(message.dueAt == at(60) && message.nextProvider == 1)
    }

    @Test("a receipt may overtake the provider's answer, and repeats change nothing")
    func receipts() {
        var message = message()
        message.take(at: at(0))
        let first = message.receive(delivered: true, reason: nil, at: at(1))
        #expect(first)
        message.sent(at: at(2))
        #expect(message.state == .delivered)
        let second = message.receive(delivered: false, reason: "late", at: at(3))
        #expect(!second)
        #expect(message.state == .delivered && message.deliveredAt == at(1))
    }
}

@Suite("days")
struct UTCDayTests {
    @Test("days are written and read alike, and impossible ones are refused")
    func days() {
        for text in ["19700101", "20000229", "20240229", "20261231", "21000301"] {
            #expect(UTCDay(text: text)?.text == text)
        }
        for text in ["20230229", "20241301", "20240100", "2024-1-1", "abcdefgh", "19691231"] {
            #expect(UTCDay(text: text) == nil)
        }
        #expect(UTCDay(at(86_399)).next == UTCDay(at(86_400)))
    }
}
