import Majordomo
import Primitives
import Testing

@Suite("What the broker says of itself")
struct ManagementTests {
    typealias Bus = BrokerUnderTest

    @Test(
        "mmi.service tells whether a worker is there, in both versions, with the request's header")
    func service() {
        let bus = Bus()
        #expect(bus.request("echo", service: "mmi.service", dialect: .v01).bodies == ["404"])
        _ = bus.request("x")
        #expect(bus.request("echo", service: "mmi.service").bodies == ["404"])
        _ = bus.ready()
        let reply = bus.request("echo", service: "mmi.service", header: Bus.header())
        #expect(reply.bodies == ["200"])
        #expect(Frames(reply[0]).header?.requestID == Bus.header().requestID)
    }

    @Test("every other name of the broker is 501")
    func unknown() {
        let bus = Bus()
        #expect(bus.request("", service: "mmi.nothing").bodies == ["501"])
        #expect(bus.request("", service: "mmi.").bodies == ["501"])
    }

    @Test("ping, info and stats list workers with the names of ADR-32")
    func micro() throws {
        let bus = Bus()
        _ = bus.ready(credit: 8)
        let request = bus.request("1")
        _ = bus.reply("x", to: request.first)
        #expect(
            bus.request("", service: "mmi.ping").bodies == [
                #"{"type":"fusionbus.micro.v1.ping_response","services":[{"name":"echo","id":"i1","version":"1.0.0"}]}"#
            ])
        #expect(
            bus.request("echo@i1", service: "mmi.info").bodies == [
                #"{"type":"fusionbus.micro.v1.info_response","services":[{"name":"echo","id":"i1","version":"1.0.0","metadata":{"protocol":"MDP/0.2","credit":8,"retry":"safe"}}]}"#
            ])
        let stats = try #require(bus.request("echo", service: "mmi.stats").bodies.first)
        #expect(stats.contains(#""num_requests":1,"num_errors":0,"last_error":"""#))
        let all = try #require(bus.request("", service: "mmi.stats").bodies.first)
        #expect(all.contains(#""broker":{"started_milliseconds_ago":"#))
        #expect(bus.request("echo@i2", service: "mmi.ping").bodies[0].contains(#""services":[]"#))
    }

    @Test("health tells queue, workers, credit")
    func health() {
        let bus = Bus()
        _ = bus.request("1", service: "absent")
        _ = bus.ready(credit: 8)
        #expect(
            bus.request("", service: "mmi.health").bodies == [
                #"{"type":"fusionbus.micro.v1.health_response","state":"serving","services":[{"name":"absent","state":"absent","queued":1,"workers":0,"credit":0,"in_hand":0},{"name":"echo","state":"serving","queued":0,"workers":1,"credit":8,"in_hand":0}]}"#
            ])
    }

    @Test("a name with quotes cannot break the text")
    func quoting() {
        let bus = Bus()
        _ = bus.request("1", service: #"a"b\c"#)
        #expect(bus.request("", service: "mmi.health").bodies[0].contains(#""name":"a\"b\\c""#))
    }
}
