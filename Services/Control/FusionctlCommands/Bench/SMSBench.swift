import Effects
import HTTPTypes
import Messages
import Primitives

/// Send and check of an SMS code over the dypnsapi edge, each pair with a number of its own.
struct SMSBench: Sendable {
    static let owner = "fusionctl-bench"

    let http: any HTTPCaller
    private let address: String
    private let send: SignedQuery
    private let check: SignedQuery
    private let numbers: BenchNumbers
    private let clock: any WallClock

    init(
        http: any HTTPCaller, gateway: String, key: CreatedAccessKey, machine: any Machine
    ) {
        self.http = http
        address = JSONPeer.trimmed(gateway) + "/?"
        clock = machine.clock
        numbers = BenchNumbers(random: machine.random)
        func query(_ action: String, _ fixed: [(String, String)], _ fresh: [String]) -> SignedQuery
        {
            SignedQuery(
                action: action, fixed: fixed, fresh: fresh, keyID: key.accessKeyId,
                secret: key.accessKeySecret, authenticator: machine.authenticator)
        }
        send = query(
            "SendSmsVerifyCode",
            [
                ("SignName", "Example"), ("TemplateCode", "100001"),
                ("TemplateParam", ###"{"code":"##code##","min":"5"}"###),
                ("ReturnVerifyCode", "true"),
            ], ["PhoneNumber"])
        check = query("CheckSmsVerifyCode", [], ["PhoneNumber", "VerifyCode"])
    }

    func pair(_ timer: inout LoadTimer) async throws {
        let draw = numbers.next()
        let number = SignedQuery.Fresh(name: "PhoneNumber", value: draw.national)
        let sent = try await timer.time("send") {
            try await call(send, [number], nonce: draw.nonce + "s")
        }
        guard let code = FieldScan.text("VerifyCode", in: sent) else {
            throw BenchProblem("send: " + (FieldScan.text("Code", in: sent) ?? "no code"))
        }
        let checked = try await timer.time("check") {
            let value = SignedQuery.Fresh(name: "VerifyCode", value: code)
            return try await call(check, [number, value], nonce: draw.nonce + "c")
        }
        guard FieldScan.text("VerifyResult", in: checked) == "PASS" else {
            throw BenchProblem("check: " + (FieldScan.text("Code", in: checked) ?? "no result"))
        }
    }

    private func call(
        _ query: SignedQuery, _ values: [SignedQuery.Fresh], nonce: String
    ) async throws -> [UInt8] {
        let text = query.query(values, nonce: nonce, timestamp: RPCTime(clock.now()))
        return try await http.call(HTTPCall("POST", address + text)).body
    }
}

/// Numbers that no other pair of this run has, and most likely none of an earlier one.
final class BenchNumbers: Sendable {
    private static let space = 100_000_000
    /// Shares no factor with the space, so that every number comes once before one comes again; far
    /// apart, as those of real people are.
    private static let stride = 61_803_399

    private let run: String
    private let last: Lock<(count: Int, number: Int)>

    init(random: any RandomSource) {
        run = Hex.encode(random.bytes(12))
        last = Lock((0, Int(random.uniform(below: UInt32(Self.space)))))
    }

    /// A mobile number of China without its country code, and a nonce that belongs to it.
    func next() -> (national: String, nonce: String) {
        let (count, number) = last.withLock { last in
            last.count += 1
            last.number = (last.number + Self.stride) % Self.space
            return last
        }
        let digits = "\(number)"
        return (
            "138" + String(repeating: "0", count: 8 - digits.utf8.count) + digits,
            "\(run)\(count)"
        )
    }
}

/// Looks for one text in a JSON answer without reading the rest: the load shares the machine with what
/// it measures. Fit for values without escapes.
enum FieldScan {
    static func text(_ name: String, in body: [UInt8]) -> String? {
        let mark = Array("\"\(name)\":\"".utf8)
        guard body.count > mark.count else { return nil }
        let last = body.count - mark.count
        for start in 0..<last where body[start] == mark[0] {
            guard body[start..<start + mark.count].elementsEqual(mark) else { continue }
            let value = body[(start + mark.count)...].prefix { $0 != UInt8(ascii: "\"") }
            return String(decoding: value, as: UTF8.self)
        }
        return nil
    }
}

/// A story of a load that went wrong; the words are counted.
struct BenchProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }

    static func words(_ error: any Error) -> String {
        switch error {
        case let problem as BenchProblem: problem.reason
        case let failure as HTTPCallFailure: "\(failure)"
        case let failure as ServiceFailure: failure.code.rawValue
        case let surprise as DemoSurprise: surprise.description
        default: "\(error)"
        }
    }
}
