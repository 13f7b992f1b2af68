import HTTPTypes
import Testing

@testable import HTTPServer

@Suite("The rules of a request's head")
struct HeadRulesTests {
    private func judge(
        _ method: String = "GET", _ target: String = "/", version: String = "HTTP/1.1",
        _ fields: [(String, String)] = [("Host", "a")]
    ) -> HeadRules.Verdict {
        HeadRules.judge(
            HeadRules.Line(
                method: Array(method.utf8), target: Array(target.utf8),
                version: Array(version.utf8)),
            fields.map { HeadRules.Field(name: Array($0.0.utf8), value: Array($0.1.utf8)) },
            peerAddress: "192.0.2.1", isSecure: false)
    }

    private func isTaken(
        _ method: String, version: String = "HTTP/1.1", _ fields: [(String, String)]
    ) -> Bool {
        judge(method, "/", version: version, fields).framing != .refused
    }

    @Test func plainRequestIsTaken() {
        let verdict = judge("GET", "/a/b?c=d&e", [("Host", "x:80"), ("Accept", " */* ")])
        #expect(verdict.framing == .counted(0))
        #expect(verdict.head.path == "/a/b")
        #expect(verdict.head.query == "c=d&e")
        #expect(verdict.head.headers["accept"]?.trimmedSpaces == "*/*")
        #expect(verdict.head.peerAddress == "192.0.2.1")
    }

    @Test(arguments: [
        [("Host", "a"), ("Content-Length", "5"), ("Content-Length", "5")],
        [("Host", "a"), ("Content-Length", "5"), ("Content-Length", "6")],
        [("Host", "a"), ("Content-Length", "5, 5")],
        [("Host", "a"), ("Content-Length", "+5")],
        [("Host", "a"), ("Content-Length", "")],
        [("Host", "a"), ("Content-Length", "0x5")],
        [("Host", "a"), ("Content-Length", "1234567890123456789")],
        [("Host", "a"), ("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
        [("Host", "a"), ("Transfer-Encoding", "gzip, chunked")],
        [("Host", "a"), ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
        [("Host", "a"), ("Transfer-Encoding", "identity")],
        [("Host", "a"), ("Transfer-Encoding", "xchunked")],
        [("Host", "a"), ("Transfer-Encoding", "")],
    ])
    func lengthsThatTwoProgramsMayReadDifferently(_ fields: [(String, String)]) {
        #expect(!isTaken("POST", fields))
    }

    @Test func chunkedAloneIsTaken() {
        let fields = [("Host", "a"), ("Transfer-Encoding", "Chunked")]
        #expect(isTaken("POST", fields))
        #expect(!isTaken("POST", version: "HTTP/1.0", fields))
    }

    @Test(arguments: [
        [("Host ", "a")], [("Host", "a"), ("X\t", "1")], [("Host", "a"), ("", "1")],
        [("Host", "a"), (" X", "1")], [("Host", "a"), ("X(", "1")],
        [("Host", "a"), ("X\u{e9}", "1")],
        [("Host", "a"), ("X", "a\u{0}b")], [("Host", "a"), ("X", "a\rb")],
        [("Host", "a"), ("X", "a\u{7f}b")], [("Host", "a"), ("X", "a\u{1}b")],
    ])
    func fieldsThatAreNone(_ fields: [(String, String)]) {
        #expect(!isTaken("GET", fields))
    }

    @Test func valuesAreUTF8() {
        #expect(isTaken("GET", [("Host", "a"), ("X", "é中")]))
        let verdict = HeadRules.judge(
            HeadRules.Line(
                method: Array("GET".utf8), target: Array("/".utf8), version: Array("HTTP/1.1".utf8)),
            [
                HeadRules.Field(name: Array("Host".utf8), value: Array("a".utf8)),
                HeadRules.Field(name: Array("X".utf8), value: [0xe9]),
            ], peerAddress: "", isSecure: false)
        #expect(verdict.framing == .refused)
    }

    @Test func hostIsThereOnce() {
        #expect(!isTaken("GET", []))
        #expect(!isTaken("GET", [("Host", "a"), ("host", "a")]))
        #expect(isTaken("GET", version: "HTTP/1.0", []))
        for host in ["a b", "a,b", "a/b", "u@a", "a\"b", "a?b"] {
            #expect(!isTaken("GET", [("Host", host)]), "\(host)")
        }
        #expect(isTaken("GET", [("Host", "[::1]:80")]))
    }

    @Test(arguments: [
        "", "a", "a/b", "//", "*", "host:80", "/a b", "/a#b", "/\u{e9}", "/\u{7f}", "/\t",
        "http://", "http:///a", "ftp://a/", "http://u@a/", "http://a b/",
    ])
    func targets(_ target: String) {
        let isGood = target == "//"
        #expect((judge("GET", target).framing == .counted(0)) == isGood, "\(target)")
    }

    @Test func absoluteFormBringsItsOwnHost() {
        let verdict = judge("GET", "HTTP://b.example:8080/p?q", [("Host", "a")])
        #expect(verdict.framing == .counted(0))
        #expect(verdict.head.headers.values("host") == ["b.example:8080"])
        #expect(verdict.head.path == "/p")
        #expect(verdict.head.query == "q")
        #expect(judge("GET", "https://b.example").head.path == "/")
        #expect(judge("GET", "http://b?x").head.query == "x")
    }

    @Test func asteriskIsForOptionsAlone() {
        #expect(judge("OPTIONS", "*").framing == .serverOptions)
        #expect(judge("GET", "*").framing == .refused)
        #expect(judge("CONNECT", "a:80").framing == .refused)
        #expect(judge("CONNECT", "/").framing == .refused)
    }

    @Test(arguments: ["HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 "])
    func versions(_ version: String) {
        #expect(judge("GET", "/", version: version).framing == .refused)
    }

    @Test(arguments: ["G T", "", "GÉT", "G(T", "GET\u{0}"])
    func methods(_ method: String) {
        #expect(judge(method).framing == .refused)
    }
}
