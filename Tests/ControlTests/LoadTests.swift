import Effects
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("Loads of benchmarks")
struct LoadTests {
    /// Time that passes only by waiting, and by stories that take some. Nobody else may wait on it:
    /// progress is therefore not told.
    private final class PassingTime: Pause {
        private let steady = Lock(Duration.zero)
        func steadyNow() -> Duration { steady.withLock { $0 } }
        func wait(_ span: Duration) async throws(CancellationError) { pass(span) }
        func pass(_ span: Duration) { steady.withLock { $0 += span } }
    }

    private static func run(
        _ pressure: LoadRun.Pressure, _ time: PassingTime, workers: Int = 1,
        _ story: @escaping LoadRun.Story
    ) async -> LoadRun.Report {
        await LoadRun(
            pressure: pressure, span: .seconds(2), pause: time, reason: BenchProblem.words,
            pacedWorkers: workers
        ).run(story)
    }

    @Test("times keep their size to three parts in a hundred, from microseconds to minutes")
    func tape() {
        for microseconds in [0, 1, 31, 32, 33, 63, 64, 1000, 12_345, 999_999, 60_000_000] {
            var tape = LatencyTape()
            tape.add(.microseconds(microseconds))
            let seen = tape.microseconds(0.5)
            #expect(
                abs(seen - Double(microseconds)) <= Double(microseconds) * 0.03,
                "\(microseconds) became \(seen)")
        }
    }

    @Test("a percentile is the time that so many calls did not exceed")
    func percentiles() {
        var one = LatencyTape()
        var other = LatencyTape()
        for microseconds in 1...16 { one.add(.microseconds(microseconds)) }
        for microseconds in 17...20 { other.add(.microseconds(microseconds)) }
        one.add(other)
        #expect(one.count == 20)
        #expect(one.microseconds(0.5) == 10)
        #expect(one.microseconds(0.95) == 19)
        #expect(one.microseconds(1) == 20)
        #expect(LatencyTape().microseconds(0.5) == 0)
    }

    @Test("a closed load counts what ended after the warm-up, by call and as a whole")
    func closed() async {
        let time = PassingTime()
        let report = await Self.run(.outstanding(1), time) { timer in
            try await timer.time("a") { time.pass(.milliseconds(100)) }
            try await timer.leaveOut { time.pass(.milliseconds(50)) }
            try await timer.time("b") { time.pass(.milliseconds(100)) }
        }
        // 3 s at 0.25 s a story; those that end in the last two seconds count.
        #expect(report.tape.whole.count == 8)
        #expect(report.tape.calls.map(\.name) == ["a", "b"])
        #expect(abs(report.tape.whole.microseconds(0.5) - 200_000) < 6000)
        #expect(report.tape.failedCount == 0)
    }

    @Test("failures are counted by what was wrong, and are no story")
    func failures() async {
        let time = PassingTime()
        let report = await Self.run(.outstanding(1), time) { _ in
            time.pass(.milliseconds(100))
            throw HTTPCallFailure.connectionLost
        }
        #expect(report.tape.whole.count == 0)
        #expect(report.tape.failures.count == 1)
        let words = HTTPCallFailure.connectionLost.description
        #expect(report.tape.failures[words] == 20)
    }

    @Test("a paced load counts the time that a story waited for its turn")
    func paced() async {
        let quick = PassingTime()
        let inTime = await Self.run(.perSecond(10), quick) { _ in }
        #expect(inTime.tape.whole.count == 20)
        #expect(inTime.tape.whole.microseconds(0.99) == 0)
        let slow = PassingTime()
        let late = await Self.run(.perSecond(10), slow) { _ in slow.pass(.milliseconds(300)) }
        #expect(late.tape.whole.microseconds(0.99) > 1_000_000)
    }

    @Test("a signed query says and signs what the official client does")
    func signedQuery() throws {
        let query = SignedQuery(
            action: "SendSmsVerifyCode",
            fixed: [
                ("SignName", "测试签名"), ("TemplateCode", "100001"),
                ("TemplateParam", ###"{"code":"##code##","min":"5"}"###), ("CodeLength", "6"),
                ("ReturnVerifyCode", "True"), ("SchemeName", "测试方案"),
                ("RegionId", "cn-hangzhou"), ("SignatureType", ""),
            ], fresh: ["PhoneNumber"], keyID: "LTAI5tExampleKeyId0001", secret: Secret("word"),
            authenticator: FakeAuthenticator())
        let text = query.query(
            [SignedQuery.Fresh(name: "PhoneNumber", value: "13000000000")],
            nonce: "d179e3a4de52915aad24a97dc208a18c",
            timestamp: RPCTime(WallTime(millisecondsSince1970: 1_796_009_644_567)))
        let parts = text.split(separator: "&").map(String.init)
        #expect(parts.dropLast().contains("Timestamp=2026-11-30T03%3A34%3A04Z"))
        #expect(parts.dropLast().contains("PhoneNumber=13000000000"))
        let encoded = try #require(parts.last?.dropFirst("Signature=".count))
        let base64 = try #require(PercentCoding.decode(encoded, plusIsSpace: false))
        let url = String(base64.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        let signed = try #require(Base64URL.decode(url))
        #expect(String(decoding: signed, as: UTF8.self) == Self.signedByOfficialClient + "word&")
    }

    /// Of the older official SDK for Python, for the same parameters.
    private static let signedByOfficialClient =
        "POST&%2F&AccessKeyId%3DLTAI5tExampleKeyId0001%26Action%3DSendSmsVerifyCode%26CodeLength%3D6"
        + "%26Format%3DJSON%26PhoneNumber%3D13000000000%26RegionId%3Dcn-hangzhou"
        + "%26ReturnVerifyCode%3DTrue%26SchemeName%3D%25E6%25B5%258B%25E8%25AF%2595%25E6%2596%25B9"
        + "%25E6%25A1%2588%26SignName%3D%25E6%25B5%258B%25E8%25AF%2595%25E7%25AD%25BE%25E5%2590%258D"
        + "%26SignatureMethod%3DHMAC-SHA1%26SignatureNonce%3Dd179e3a4de52915aad24a97dc208a18c"
        + "%26SignatureType%3D%26SignatureVersion%3D1.0%26TemplateCode%3D100001%26TemplateParam%3D"
        + "%257B%2522code%2522%253A%2522%2523%2523code%2523%2523%2522%252C%2522min%2522%253A%25225"
        + "%2522%257D%26Timestamp%3D2026-11-30T03%253A34%253A04Z%26Version%3D2017-05-25"

    @Test("no number comes twice in a run, and every nonce is its own")
    func numbers() {
        let numbers = BenchNumbers(random: SeededRandom(seed: 1))
        let draws = (0..<5000).map { _ in numbers.next() }
        #expect(Set(draws.map(\.national)).count == draws.count)
        #expect(Set(draws.map(\.nonce)).count == draws.count)
        #expect(draws.allSatisfy { $0.national.count == 11 && $0.national.hasPrefix("138") })
    }

    @Test("a text is found in an answer, and nothing where there is none")
    func scan() {
        let body = Array(#"{"Code":"OK","Model":{"VerifyCode":"4232"}}"#.utf8)
        #expect(FieldScan.text("VerifyCode", in: body) == "4232")
        #expect(FieldScan.text("VerifyResult", in: body) == nil)
        #expect(FieldScan.text("Code", in: Array(#"{"Code":"#.utf8)) == nil)
        #expect(FieldScan.text("Code", in: []) == nil)
    }

    @Test("a load on a gateway that refuses reports no pair, and says why")
    func refused() async throws {
        let tool = Tool()
        tool.machine.set { $0.defaultScheme = "FA1" }
        #expect(await tool.run("bench", "http") == .failed)
        #expect(tool.terminal.progress.last?.contains("no gateway runs in this home") == true)
        #expect(await tool.run("bench", "sms", "--outstanding", "0", "--gateway", "x") == .usage)
        #expect(await tool.run("bench", "scene", "--way", "y", "--gateway", "x") == .usage)
    }
}
