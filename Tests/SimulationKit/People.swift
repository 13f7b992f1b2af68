import Bus
import Effects
import Messages
import Primitives
import TestKit

/// One caller of the house that repeats what the bus lost, under the same request key, as an app
/// server
/// would; and holds the house to rule 8 while doing so.
package struct Person: Sendable {
    /// Repeats of one call before it is given up.
    static let repeatsMax = 40

    let house: House
    private let caller: LinkCaller
    private let answers: AnswerBook

    init(_ house: House, _ answers: AnswerBook, name: String = "operator") {
        self.house = house
        self.answers = answers
        guard let principal = Principal(roles: [.operator, .integrator, .gateway], name: name)
        else { preconditionFailure("a person has a name") }
        caller = house.world.caller(as: principal)
    }

    var world: World { house.world }

    /// The outcome, once there is one: the reply or a refusal of the service. nil when the bus
    /// never let
    /// it through.
    func ask<Request: BusRequest>(
        _ request: Request, key: String
    ) async -> Result<Request.Reply, ServiceFailure>? {
        for _ in 0..<Self.repeatsMax {
            do throws(ServiceFailure) {
                let reply = try await caller.call(request, CallOptions(requestKey: key))
                answers.check(world, Request.method, key, try BusCoding.encode(reply))
                await repeatSometimes(request, key)
                return .success(reply)
            } catch {
                switch error.code {
                case .deadlinePassed, .unavailable, .overloaded, .workerLost, .internalFault,
                    .providerUnavailable, .carrierUnavailable:
                    do { try await world.clock.wait(.milliseconds(300)) } catch { return nil }
                default:
                    answers.check(world, Request.method, key, Array("\(error.code)".utf8))
                    return .failure(error)
                }
            }
        }
        return nil
    }

    /// A caller that did not see its answer, or a button pressed twice: the same request under the same key.
    private func repeatSometimes<Request: BusRequest>(_ request: Request, _ key: String) async {
        guard Request.method.effect == .write, world.workload.uniform(below: 4) == 0 else { return }
        do throws(ServiceFailure) {
            let reply = try await caller.call(request, CallOptions(requestKey: key))
            answers.check(world, Request.method, key, try BusCoding.encode(reply))
        } catch {
            world.note("repeat of \(Request.method): \(error.code)")
        }
    }

    /// The codes that the simulated phone has shown for `number`, newest last.
    func codes(_ number: String) async -> [String] {
        guard case .success(let inbox) = await ask(ReadInbox(number: number), key: fresh("inbox"))
        else { return [] }
        return inbox.messages.compactMap { message in
            message.text.split { !$0.isNumber }.first { $0.count == 6 }.map(String.init)
        }
    }

    func newestCode(_ number: String) async -> String? {
        for _ in 0..<20 {
            if let code = await codes(number).last { return code }
            do { try await world.clock.wait(.milliseconds(250)) } catch { return nil }
        }
        return nil
    }

    /// A key nobody used before.
    func fresh(_ name: String) -> String { "\(name)-\(answers.next())" }
}

/// Rule 8: what a key was answered once, it is answered always.
package final class AnswerBook: Sendable {
    private let answers = Lock<[String: [UInt8]]>([:])
    private let counter = Lock(0)

    package init() {}

    func next() -> Int {
        counter.withLock { counter in
            counter += 1
            return counter
        }
    }

    func check(_ world: World, _ method: Method, _ key: String, _ answer: [UInt8]) {
        guard method.effect == .write else { return }
        let earlier = answers.withLock { answers -> [UInt8]? in
            defer { answers["\(method) \(key)"] = answer }
            return answers["\(method) \(key)"]
        }
        guard let earlier else { return }
        world.tally("answers repeated", 1)
        guard earlier != answer else { return }
        world.violate("rule 8", "two answers to one request key of \(method)")
    }
}
