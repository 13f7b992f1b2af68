import GatewayService
import HTTPTypes
import Testing

@Suite("Whose address a request has")
struct TrustedProxiesTests {
    private func client(
        _ proxies: [String], _ peer: String, _ forwarded: [String], proto: String? = nil
    ) throws -> (address: String?, isSecure: Bool) {
        var headers: HTTPHeaders = [:]
        for line in forwarded { headers.add("X-Forwarded-For", line) }
        if let proto { headers.add("X-Forwarded-Proto", proto) }
        let trusted = try #require(TrustedProxies(proxies))
        return trusted.client(
            of: HTTPRequestHead(method: "GET", path: "/", headers: headers, peerAddress: peer))
    }

    @Test("a stranger's header does not count")
    func stranger() throws {
        let seen = try client(["10.0.0.0/8"], "192.0.2.7", ["198.51.100.1"], proto: "https")
        #expect(seen == ("192.0.2.7", false))
    }

    @Test("the walk goes right to left and ends at the first stranger")
    func walk() throws {
        let lines = ["203.0.113.9, 198.51.100.1", "10.1.2.3"]
        let seen = try client(["10.0.0.0/8"], "10.9.9.9", lines, proto: "https")
        #expect(seen == ("198.51.100.1", true))
    }

    @Test("an entry that is no address makes the client unknown, never one of its choice")
    func unreadable() throws {
        let seen = try client(["10.0.0.0/8"], "10.9.9.9", ["198.51.100.1, unknown"])
        #expect(seen.address == nil)
    }

    @Test("ports and brackets of some proxies are read, both families of one address are equal")
    func forms() throws {
        let v4 = try client(["10.0.0.0/8"], "::ffff:10.1.1.1", ["192.0.2.1:4711"])
        #expect(v4.address == "192.0.2.1")
        let v6 = try client(["fd00::/8"], "fd00::1", ["[2001:db8::1]:4711, fd12::9"])
        #expect(v6.address == "2001:db8::1")
    }

    @Test("a network that is none is refused", arguments: ["10.0.0.0/33", "10.0.0", "x", "::/129"])
    func broken(_ text: String) { #expect(TrustedProxies([text]) == nil) }
}
