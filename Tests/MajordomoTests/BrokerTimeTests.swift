import Majordomo
import Primitives
import Testing

@Suite("Deadlines, silence and limits of the broker")
struct BrokerTimeTests {
    typealias Bus = BrokerUnderTest

    @Test("a waiting request ends at its deadline, not before")
    func deadlineWaiting() {
        let bus = Bus()
        _ = bus.ready(credit: 0)
        _ = bus.request("1", header: Bus.header(timeLeft: 1_000))
        #expect(bus.passAlive(.milliseconds(990)).isEmpty)
        let ended = bus.passAlive(.milliseconds(40))
        #expect(ended.map { Frames($0).header?.status } == [4])
        #expect(bus.broker.payloadsCount == 0)
    }

    @Test(
        "after a deadline the worker's credit stays taken until it answers, and the answer is dropped"
    )
    func overrun() throws {
        let bus = Bus()
        _ = bus.ready(credit: 1)
        let request = try #require(bus.request("1", header: Bus.header(timeLeft: 500)).first)
        #expect(bus.passAlive(.milliseconds(600)).map { Frames($0).header?.status } == [4])
        #expect(bus.request("2").isEmpty)
        let late = bus.reply("late", to: request)
        #expect(late.bodies == ["2"])
        #expect(bus.broker.machine.counters.repliesLate == 1)
    }

    @Test(
        "a credit worker that never answers gets its credit back in the end; a plain one does not")
    func overrunEnds() {
        let bus = Bus { $0.overrunMax = .seconds(3) }
        _ = bus.ready(credit: 1)
        _ = bus.request("1", header: Bus.header(timeLeft: 500))
        _ = bus.passAlive(.seconds(1))
        _ = bus.request("2")
        #expect(bus.passAlive(.seconds(3)).bodies == ["2"])

        let plain = Bus { $0.overrunMax = .seconds(3) }
        _ = plain.ready()
        _ = plain.request("1", header: Bus.header(timeLeft: 500))
        _ = plain.pass(.seconds(1))
        _ = plain.request("2")
        #expect(plain.pass(.seconds(20)).filter { Frames($0).kind == .request }.isEmpty)
    }

    @Test("a request that names no time gets the default, and a spent one is refused")
    func timeLeft() {
        let bus = Bus { $0.requestTime = .seconds(2) }
        _ = bus.ready(credit: 0)
        _ = bus.request("1", dialect: .v01)
        #expect(bus.passAlive(.milliseconds(1_900)).isEmpty)
        let ended = bus.passAlive(.milliseconds(200))
        #expect(ended.bodies.first?.contains("deadline_passed") == true)
        #expect(
            bus.request("2", header: Bus.header(timeLeft: 0)).map { Frames($0).header?.status }
                == [4])
    }

    @Test("the time left counts down while a request waits")
    func countDown() throws {
        let bus = Bus()
        _ = bus.request("1", header: Bus.header(timeLeft: 2_000))
        _ = bus.pass(.milliseconds(500))
        let request = bus.ready(credit: 1).first { Frames($0).kind == .request }
        #expect(Frames(try #require(request)).header?.timeLeftMilliseconds == 1_500)
    }

    @Test("a request for an unknown name waits five seconds, then fails for plain clients too")
    func unknownService() {
        let bus = Bus()
        _ = bus.request("1", service: "nobody", dialect: .v01)
        #expect(bus.pass(.milliseconds(4_900)).isEmpty)
        let ended = bus.pass(.milliseconds(1_200))
        #expect(
            ended.bodies == [
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no worker serves this name","data":{"reason":"unavailable","retryAfterMilliseconds":0}}}"#
            ])
        #expect(bus.request("2", service: "late", header: Bus.header(timeLeft: 60_000)).isEmpty)
        #expect(bus.ready(service: "late").bodies == ["2"])
    }

    @Test("a plain worker hears something every two seconds, a credit worker at its own interval")
    func heartbeats() {
        let bus = Bus()
        _ = bus.ready(Bus.worker)
        #expect(bus.pass(.milliseconds(1_900)).isEmpty)
        #expect(bus.pass(.milliseconds(200)).kinds == [.heartbeat])

        let credit = Bus()
        _ = credit.ready(credit: 4)
        #expect(credit.pass(.milliseconds(320)).kinds == [.heartbeat])
    }

    @Test("silent workers die: credit ones after four intervals, idle plain ones after ten seconds")
    func silence() {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        _ = bus.request("1", header: Bus.header(timeLeft: 60_000))
        #expect(!bus.pass(.milliseconds(900)).kinds.contains(.disconnect))
        #expect(bus.pass(.milliseconds(200)).kinds.contains(.disconnect))
        #expect(bus.ready(Bus.otherWorker, credit: 1).bodies.last == "1")

        let plain = Bus()
        _ = plain.ready()
        #expect(!plain.pass(.milliseconds(9_900)).kinds.contains(.disconnect))
        #expect(plain.pass(.milliseconds(300)).kinds.contains(.disconnect))
    }

    @Test("a busy plain worker is never expired by silence")
    func busyPlain() {
        let bus = Bus()
        _ = bus.ready()
        let request = bus.request("1", header: Bus.header(timeLeft: 60_000))
        #expect(!bus.pass(.seconds(29)).kinds.contains(.disconnect))
        #expect(bus.reply("x", to: request.first).bodies == ["x"])
    }

    @Test("queue bounds refuse at once with a time to wait")
    func queueBounds() {
        let bus = Bus {
            $0.queuedPerServiceMax = 2
            $0.inFlightPerClientMax = 100
        }
        _ = bus.request("1")
        _ = bus.request("2")
        let refused = bus.request("3", header: Bus.header())
        #expect(refused.map { Frames($0).header?.status } == [8])
        #expect(refused.map { Frames($0).header?.retryAfterMilliseconds } == [100])
        #expect(bus.broker.payloadsCount == 2)

        let bytes = Bus { $0.queuedBytesPerServiceMax = 100 }
        _ = bytes.request(String(repeating: "x", count: 90))
        #expect(bytes.request(String(repeating: "x", count: 20)).kinds == [.reply])
    }

    @Test("one client has a bound of its own; others go on")
    func clientBound() {
        let bus = Bus { $0.inFlightPerClientMax = 2 }
        _ = bus.request("1")
        _ = bus.request("2")
        #expect(bus.request("3").bodies.first?.contains("overloaded") == true)
        #expect(bus.request("4", from: Bus.otherClient).isEmpty)
    }

    @Test("total bounds: requests, bytes, clients, workers, names")
    func totalBounds() {
        let bus = Bus {
            $0.requestsMax = 3
            $0.heldBytesMax = 100
            $0.clientsMax = 2
            $0.workersMax = 1
            $0.servicesMax = 4
        }
        #expect(bus.request(String(repeating: "x", count: 101)).kinds == [.reply])
        _ = bus.request("1")
        #expect(bus.request("1", service: "b").isEmpty)
        #expect(bus.request("1", service: "c").bodies.first?.contains("unavailable") == true)
        _ = bus.ready(service: "d", credit: 1)
        #expect(bus.ready(Bus.otherWorker, service: "e").kinds == [.disconnect])
        _ = bus.request("2", from: Bus.otherClient)
        #expect(bus.request("3", from: RoutingID([9])).kinds == [.reply])
    }

    @Test("draining takes nothing new, lets what is in flight finish")
    func drain() {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        let request = bus.request("1")
        bus.broker.machine.drain()
        #expect(bus.request("2").bodies.first?.contains("overloaded") == true)
        #expect(!bus.broker.machine.isIdle)
        #expect(bus.reply("x", to: request.first).bodies == ["x"])
        #expect(bus.broker.machine.isIdle)
    }

    @Test("names and clients that nobody needs are forgotten")
    func forgetting() {
        let bus = Bus { $0.serviceIdle = .seconds(20) }
        for number in 0..<50 {
            _ = bus.request(
                "x", service: "typo\(number)", from: RoutingID([0, 9, UInt8(number)]))
        }
        let before = bus.request("", service: "mmi.health")
        #expect(before.bodies.first?.contains("typo49") == true)
        _ = bus.pass(.seconds(40))
        let after = bus.request("", service: "mmi.health")
        #expect(after.bodies.first?.contains("typo") == false)
        #expect(bus.broker.payloadsCount == 0)
    }
}
