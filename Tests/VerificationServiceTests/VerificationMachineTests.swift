import Effects
import Messages
import Primitives
import Storage
import TestKit
import Testing

@testable import VerificationService

@Suite("Verification")
struct VerificationMachineTests {
    private let start = WallTime(millisecondsSince1970: 1_000_000)
    private let leaseFor = Duration.seconds(4)
    private let number = StoredBytes([1, 2, 3])

    private func row() -> Verification {
        Verification(
            key: "mask/1.00", id: .sample, schemeCode: World.schemeCode, binding: nil,
            evidence: .smsCode(.sample), openedAt: start, expiresAt: start + .seconds(300),
            keptUntil: start + .seconds(3600))
    }

    private func at(_ seconds: Int) -> WallTime { start + .seconds(seconds) }

    private let pass = Verdict.pass(World.number)

    @Test("a PASS is given to the call that made it and to nobody else")
    func passOnce() {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        #expect(row.admit("b", at: at(1), leaseFor: leaseFor) == .busy)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "a", at: at(2)) == .pass)
        #expect(row.state == .passed)
        guard case .decided(let decision) = row.admit("c", at: at(3), leaseFor: leaseFor) else {
            Issue.record("not decided")
            return
        }
        #expect(CallAnswer.late(decision) == .unknown(.alreadyUsed, attemptsLeft: nil))
        #expect(
            row.answer(evaluationsSeen: 0, at: at(3)) == .unknown(.alreadyUsed, attemptsLeft: nil))
    }

    @Test("of two calls that both asked the evidence the first to settle gets the PASS")
    func lateSecond() {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        #expect(row.claim("b", evaluationsSeen: 0, at: at(4), leaseFor: leaseFor) == .busy)
        #expect(row.claim("b", evaluationsSeen: 0, at: at(5), leaseFor: leaseFor) == .taken)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "a", at: at(6)) == .pass)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "b", at: at(6))
                == .unknown(.alreadyUsed, attemptsLeft: nil))
        #expect(row.evaluationsCount == 1)
    }

    @Test("an open outcome frees the row, and a call that waited answers from it")
    func openOutcome() {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        #expect(row.admit("b", at: at(1), leaseFor: leaseFor) == .busy)
        #expect(
            row.settle(
                .open(.carrierTimeout), number: nil, phoneScore: nil, holder: "a", at: at(4))
                == .unknown(.carrierTimeout, attemptsLeft: nil))
        #expect(row.claim("b", evaluationsSeen: 0, at: at(4), leaseFor: leaseFor) == .settled)
        #expect(
            row.answer(evaluationsSeen: 0, at: at(4))
                == .unknown(.carrierTimeout, attemptsLeft: nil))
        #expect(row.admit("c", at: at(5), leaseFor: leaseFor) == .taken)
    }

    @Test("a refusal is final and is repeated with its attempts left")
    func refusal() {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        let refused = CallAnswer.unknown(.codeRejected, attemptsLeft: 4)
        #expect(
            row.settle(
                .refused(.codeRejected, attemptsLeft: 4), number: nil, phoneScore: nil,
                holder: "a", at: at(1)) == refused)
        #expect(row.answer(evaluationsSeen: 0, at: at(1)) == refused)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "b", at: at(2)) == refused)
        #expect(row.state == .refused)
    }

    @Test("a REJECT is final")
    func reject() {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        #expect(
            row.settle(.reject, number: nil, phoneScore: nil, holder: "a", at: at(1)) == .reject)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "b", at: at(1)) == .reject)
    }

    @Test("no call is admitted after the expiry, also when the clock jumps back")
    func expiry() {
        var row = row()
        #expect(row.admit("a", at: at(299), leaseFor: leaseFor) == .taken)
        #expect(row.admit("b", at: at(300), leaseFor: leaseFor) == .expired)
        #expect(row.admit("c", at: at(10), leaseFor: leaseFor) == .expired)
    }

    @Test("a call admitted in time is finished within the grace, and no later")
    func grace() {
        var row = row()
        #expect(row.admit("a", at: at(299), leaseFor: leaseFor) == .taken)
        var late = row
        #expect(row.claim("b", evaluationsSeen: 0, at: at(310), leaseFor: leaseFor) == .taken)
        #expect(
            row.settle(pass, number: number, phoneScore: nil, holder: "b", at: at(311)) == .pass)
        #expect(late.claim("b", evaluationsSeen: 0, at: at(360), leaseFor: leaseFor) == .settled)
        #expect(
            late.answer(evaluationsSeen: 0, at: at(360))
                == .unknown(.maskTokenExpired, attemptsLeft: nil))
        #expect(
            late.settle(pass, number: number, phoneScore: nil, holder: "a", at: at(360))
                == .unknown(.maskTokenExpired, attemptsLeft: nil))
    }

    @Test("a row and its lease survive being stored")
    func coding() throws {
        var row = row()
        #expect(row.admit("a", at: at(1), leaseFor: leaseFor) == .taken)
        _ = row.settle(pass, number: number, phoneScore: 12, holder: "a", at: at(2))
        var rows = Rows()
        rows.put(VerificationTables.verifications, row)
        let body = try #require(rows.writes.first).write.body()
        var read = Rows()
        read.load(
            .row(RowName(table: "verification", key: row.key)),
            [
                (RowName(table: "verification", key: row.key), body)
            ])
        #expect(read.get(VerificationTables.verifications, row.key) == row)
    }
}

@Suite("Verdict")
struct VerdictTests {
    private func judge(
        _ answer: EvidenceAnswer, _ kind: EvidenceKind = .smsCode, expected: PhoneNumber? = nil,
        excluded: PhoneNumber? = nil, stated: StatedNumber = .none
    ) -> Verdict {
        Verdict.judge(
            answer, of: kind,
            for: Expectation(
                schemeCode: World.schemeCode, run: (World.purpose, .sample), number: expected,
                excludedNumber: excluded)
        ) { stated.holds(for: $0) { [UInt8($0.count)] } }
    }

    private func proven(
        scheme: String = World.schemeCode, purpose: String = World.purpose, run: RunID? = .sample
    ) -> EvidenceAnswer {
        .proven(
            Proof(
                number: World.number,
                origin: Proof.Origin(schemeCode: scheme, purpose: purpose, runId: run)))
    }

    @Test("evidence of another scheme, purpose or run does not count")
    func binding() {
        let mismatch = Verdict.refused(.bindingMismatch, attemptsLeft: nil)
        #expect(judge(proven()) == .pass(World.number))
        #expect(judge(proven(scheme: World.otherSchemeCode)) == mismatch)
        #expect(judge(proven(purpose: "scene:100003")) == mismatch)
        #expect(judge(proven(run: .sample(2))) == mismatch)
        #expect(judge(proven(run: nil)) == mismatch)
    }

    @Test(
        "another number than the expected one, or the excluded one, is refused by kind",
        arguments: [
            (
                EvidenceKind.carrier, VerificationReason.numberMismatch,
                VerificationReason.numberMismatch
            ),
            (.smsCode, .bindingMismatch, .numberMismatch),
            (.upgoing, .senderMismatch, .senderMismatch),
        ])
    func numbers(
        kind: EvidenceKind, otherThanExpected: VerificationReason, excluded: VerificationReason
    ) {
        #expect(judge(proven(), kind, expected: World.number) == .pass(World.number))
        #expect(
            judge(proven(), kind, expected: World.otherNumber)
                == .refused(otherThanExpected, attemptsLeft: nil))
        #expect(judge(proven(), kind, excluded: World.otherNumber) == .pass(World.number))
        #expect(
            judge(proven(), kind, excluded: World.number)
                == .refused(excluded, attemptsLeft: nil))
    }

    @Test("a stated number that is not the proven one is REJECT, but only once something is proven")
    func stated() {
        #expect(judge(proven(), stated: .number(World.number)) == .pass(World.number))
        #expect(judge(proven(), stated: .number(World.otherNumber)) == .reject)
        #expect(judge(proven(), stated: .hashed([14])) == .pass(World.number))
        #expect(judge(proven(), stated: .hashed([15])) == .reject)
        #expect(
            judge(.refused(.codeRejected, attemptsLeft: 2), stated: .number(World.otherNumber))
                == .refused(.codeRejected, attemptsLeft: 2))
    }
}

@Suite("Mask token and days")
struct SmallValueTests {
    private let keys = FakeCryptography(currentVersion: 12, versions: [3, 12])

    @Test("a mask token has its key version in front and one text")
    func maskToken() throws {
        let made = MaskToken(random: Array(repeating: 7, count: 32), digest: keys)
        let text = made.text.reveal()
        #expect(text.hasPrefix("12.") && text.utf8.count == 3 + 43)
        #expect(MaskToken(text: text, digest: keys)?.key == made.key)
        #expect(!made.key.contains(text.dropFirst(3)))
        for other in [
            "", ".", "12.", "012" + text.dropFirst(2), "+" + text, text + "A", text + "=",
            "13" + text.dropFirst(2), String(text.dropLast()), " " + text, "12" + text.dropFirst(3),
        ] {
            #expect(MaskToken(text: String(other), digest: keys) == nil, "\(other)")
        }
        #expect(
            MaskToken(text: "3" + text.dropFirst(2), digest: keys)?.key != made.key,
            "another version is another token")
    }

    @Test("days are counted as the calendar does")
    func days() throws {
        #expect(UTCDay(WallTime(millisecondsSince1970: 0)).text == "19700101")
        #expect(UTCDay(WallTime(millisecondsSince1970: -1)).text == "19691231")
        #expect(UTCDay(WallTime(millisecondsSince1970: 951_782_400_000)).text == "20000229")
        #expect(UTCDay(WallTime(millisecondsSince1970: 1_800_000_000_000)).text == "20270115")
        var day = try #require(UTCDay(text: "19991231"))
        var misread: [String] = []
        for _ in 0..<40_000 {
            if UTCDay(text: day.text) != day { misread.append(day.text) }
            day = day.next
        }
        #expect(misread.isEmpty)
        #expect(day.text == "21090707")
        for wrong in [
            "20270229", "20271301", "20270132", "20270100", "2027-1-1", "1970010", "00010101",
            "٢٠٢٧٠١٠١",
        ] {
            #expect(UTCDay(text: wrong) == nil, "\(wrong)")
        }
    }
}
