import Primitives
import Testing

@Suite struct EncodingTests {
    @Test(
        "base64url agrees with RFC 4648 §10, without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
        ])
    func base64URLVectors(plain: String, text: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == text)
        #expect(Base64URL.decode(text) == Array(plain.utf8))
    }

    @Test("base64url uses - and _, and every byte comes back")
    func base64URLAlphabet() {
        #expect(Base64URL.encode([0xfb, 0xff, 0xbf]) == "-_-_")
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test(
        "one value has one text: padding, other letters, stray bits, odd lengths are refused",
        arguments: [
            "Zg==", "Zg=", "Z", "Zh", "Zm9", "Zm+v", "Zm/v", "Zm 9v", "Zm9v\n", "é", "AAAAA",
        ])
    func base64URLRefusals(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("hex is lower case, reads both cases, and refuses anything else")
    func hex() {
        #expect(Hex.encode([0, 15, 0xa5, 255]) == "000fa5ff")
        #expect(Hex.decode("000fA5ff") == [0, 15, 0xa5, 255])
        #expect(Hex.decode("") == [])
        for text in ["0", "0g", "0x12", " 00", "0٠"] { #expect(Hex.decode(text) == nil) }
    }

    @Test("a secret never prints, and only reveal shows it")
    func secret() {
        let secret = Secret("123456")
        var dumped = ""
        dump(secret, to: &dumped)
        for shown in [
            "\(secret)", String(describing: secret), String(reflecting: secret), dumped,
            String(describing: [secret]), String(describing: Optional(secret)),
        ] {
            #expect(!shown.contains("123456"))
        }
        #expect(secret.reveal() == "123456")
    }

    @Test("equal bytes are equal, and length counts")
    func constantTime() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 3]))
        #expect(!constantTimeEqual([1, 2], [1, 2, 0]))
    }
}
