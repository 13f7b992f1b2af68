import GatewayService
import HTTPTypes
import Primitives
import Testing

@Suite("Whose address a request has")
struct TrustedProxiesTests {
    private func client(
        _ proxies: [String], _ peer: String, _ forwarded: [String], proto: String? = nil
    ) throws -> (address: String, isSecure: Bool) {
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

    @Test(
        "an entry that is no address makes the client unknown, never nobody or one of its choice",
        arguments: ["198.51.100.1, unknown", "", "_hidden", "198.51.100.1,", "999.1.1.1"])
    func unreadable(_ line: String) throws {
        let seen = try client(["10.0.0.0/8"], "10.9.9.9", [line])
        #expect(seen.address == ClientAddress.unknown)
        let local = try client(["127.0.0.1"], "127.0.0.1", [line])
        #expect(local.address == ClientAddress.unknown)
    }

    @Test("who is unknown is counted, as one with all the others, and is not this machine")
    func unknown() throws {
        let counted = try #require(ClientAddress(ClientAddress.unknown))
        #expect(!counted.isLoopback && counted.text == "unknown")
    }

    @Test(
        "a proxy of this machine that is not trusted hides its clients, and so they are unknown",
        arguments: ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Proto"])
    func unlisted(_ field: String) throws {
        let trusted = try #require(TrustedProxies(["10.0.0.0/8"]))
        func address(_ peer: String) -> String {
            trusted.client(
                of: HTTPRequestHead(
                    method: "GET", path: "/", headers: [field: "127.0.0.1"], peerAddress: peer)
            ).address
        }
        #expect(address("127.0.0.1") == ClientAddress.unknown)
        #expect(address("::1") == ClientAddress.unknown)
        #expect(address("192.0.2.7") == "192.0.2.7")
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
